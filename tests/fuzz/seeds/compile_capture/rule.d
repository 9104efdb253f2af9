o.so : kernel.cu \
    part/a\ b.cuh \
    /usr/include/x.h
