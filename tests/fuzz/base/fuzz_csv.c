/* CSV reader: any bytes; rows and cells stay inside the text, lines only grow. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO_ARENA *arena = arena_new();
    struct csv_reader reader = csv_reader_new((const char *)data, size);
    struct csv_row row;
    size_t offset = 0;

    while (csv_next(&reader, arena, &row)) {
        int64_t value;
        if (reader.offset <= offset || reader.offset > size || row.count == 0)
            abort();
        offset = reader.offset;
        for (size_t i = 0; i < row.count; i++) {
            if (strlen(row.cells[i]) > size)
                abort();
            if (csv_parse_count(row.cells[i], &value) && value < 0)
                abort();
        }
        (void)csv_find(&row, "Address");
    }
    if (reader.offset != size)
        abort();
    return 0;
}
