/*
 * Every function of the runtime library of CUDA 13.0: those that nothing else here defines are refused by name
 * (runtime_unsupported.c).
 */
#ifndef PTXBENCH_EMU_SHIM_RUNTIME_NAMES_H
#define PTXBENCH_EMU_SHIM_RUNTIME_NAMES_H

/* clang-format off */
#define RUNTIME_NAMES(X) \
    X(__cudaGetKernel) X(__cudaGetProcAddress) X(__cudaInitModule) X(__cudaLaunchKernel) X(__cudaLaunchKernel_ptsz) \
    X(__cudaPopCallConfiguration) X(__cudaPushCallConfiguration) X(__cudaRegisterFatBinary) \
    X(__cudaRegisterFatBinaryEnd) X(__cudaRegisterFunction) X(__cudaRegisterHostVar) X(__cudaRegisterManagedVar) \
    X(__cudaRegisterUnifiedTable) X(__cudaRegisterVar) X(__cudaUnregisterFatBinary) X(cudaArrayGetInfo) \
    X(cudaArrayGetMemoryRequirements) X(cudaArrayGetPlane) X(cudaArrayGetSparseProperties) X(cudaChooseDevice) \
    X(cudaCreateChannelDesc) X(cudaCreateSurfaceObject) X(cudaCreateTextureObject) X(cudaCtxResetPersistingL2Cache) \
    X(cudaDestroyExternalMemory) X(cudaDestroyExternalSemaphore) X(cudaDestroySurfaceObject) \
    X(cudaDestroyTextureObject) X(cudaDeviceCanAccessPeer) X(cudaDeviceDisablePeerAccess) \
    X(cudaDeviceEnablePeerAccess) X(cudaDeviceFlushGPUDirectRDMAWrites) X(cudaDeviceGetAttribute) \
    X(cudaDeviceGetByPCIBusId) X(cudaDeviceGetCacheConfig) X(cudaDeviceGetDefaultMemPool) \
    X(cudaDeviceGetGraphMemAttribute) X(cudaDeviceGetHostAtomicCapabilities) X(cudaDeviceGetLimit) \
    X(cudaDeviceGetMemPool) X(cudaDeviceGetNvSciSyncAttributes) X(cudaDeviceGetP2PAtomicCapabilities) \
    X(cudaDeviceGetP2PAttribute) X(cudaDeviceGetPCIBusId) X(cudaDeviceGetSharedMemConfig) \
    X(cudaDeviceGetStreamPriorityRange) X(cudaDeviceGetTexture1DLinearMaxWidth) X(cudaDeviceGraphMemTrim) \
    X(cudaDeviceRegisterAsyncNotification) X(cudaDeviceReset) X(cudaDeviceSetCacheConfig) \
    X(cudaDeviceSetGraphMemAttribute) X(cudaDeviceSetLimit) X(cudaDeviceSetMemPool) X(cudaDeviceSetSharedMemConfig) \
    X(cudaDeviceSynchronize) X(cudaDeviceUnregisterAsyncNotification) X(cudaDriverGetVersion) \
    X(cudaEGLStreamConsumerAcquireFrame) X(cudaEGLStreamConsumerConnect) X(cudaEGLStreamConsumerConnectWithFlags) \
    X(cudaEGLStreamConsumerDisconnect) X(cudaEGLStreamConsumerReleaseFrame) X(cudaEGLStreamProducerConnect) \
    X(cudaEGLStreamProducerDisconnect) X(cudaEGLStreamProducerPresentFrame) X(cudaEGLStreamProducerReturnFrame) \
    X(cudaEventCreate) X(cudaEventCreateFromEGLSync) X(cudaEventCreateWithFlags) X(cudaEventDestroy) \
    X(cudaEventElapsedTime) X(cudaEventQuery) X(cudaEventRecord) X(cudaEventRecordWithFlags) \
    X(cudaEventRecordWithFlags_ptsz) X(cudaEventRecord_ptsz) X(cudaEventSynchronize) \
    X(cudaExternalMemoryGetMappedBuffer) X(cudaExternalMemoryGetMappedMipmappedArray) X(cudaFree) X(cudaFreeArray) \
    X(cudaFreeAsync) X(cudaFreeAsync_ptsz) X(cudaFreeHost) X(cudaFreeMipmappedArray) X(cudaFuncGetAttributes) \
    X(cudaFuncGetName) X(cudaFuncGetParamInfo) X(cudaFuncSetAttribute) X(cudaFuncSetCacheConfig) \
    X(cudaFuncSetSharedMemConfig) X(cudaGLGetDevices) X(cudaGLMapBufferObject) X(cudaGLMapBufferObjectAsync) \
    X(cudaGLRegisterBufferObject) X(cudaGLSetBufferObjectMapFlags) X(cudaGLSetGLDevice) X(cudaGLUnmapBufferObject) \
    X(cudaGLUnmapBufferObjectAsync) X(cudaGLUnregisterBufferObject) X(cudaGetChannelDesc) X(cudaGetDevice) \
    X(cudaGetDeviceCount) X(cudaGetDeviceFlags) X(cudaGetDeviceProperties) X(cudaGetDriverEntryPoint) \
    X(cudaGetDriverEntryPointByVersion) X(cudaGetDriverEntryPointByVersion_ptsz) X(cudaGetDriverEntryPoint_ptsz) \
    X(cudaGetErrorName) X(cudaGetErrorString) X(cudaGetExportTable) X(cudaGetFuncBySymbol) X(cudaGetKernel) \
    X(cudaGetLastError) X(cudaGetMipmappedArrayLevel) X(cudaGetSurfaceObjectResourceDesc) X(cudaGetSymbolAddress) \
    X(cudaGetSymbolSize) X(cudaGetTextureObjectResourceDesc) X(cudaGetTextureObjectResourceViewDesc) \
    X(cudaGetTextureObjectTextureDesc) X(cudaGraphAddChildGraphNode) X(cudaGraphAddDependencies) \
    X(cudaGraphAddEmptyNode) X(cudaGraphAddEventRecordNode) X(cudaGraphAddEventWaitNode) \
    X(cudaGraphAddExternalSemaphoresSignalNode) X(cudaGraphAddExternalSemaphoresWaitNode) X(cudaGraphAddHostNode) \
    X(cudaGraphAddKernelNode) X(cudaGraphAddMemAllocNode) X(cudaGraphAddMemFreeNode) X(cudaGraphAddMemcpyNode) \
    X(cudaGraphAddMemcpyNode1D) X(cudaGraphAddMemcpyNodeFromSymbol) X(cudaGraphAddMemcpyNodeToSymbol) \
    X(cudaGraphAddMemsetNode) X(cudaGraphAddNode) X(cudaGraphChildGraphNodeGetGraph) X(cudaGraphClone) \
    X(cudaGraphConditionalHandleCreate) X(cudaGraphCreate) X(cudaGraphDebugDotPrint) X(cudaGraphDestroy) \
    X(cudaGraphDestroyNode) X(cudaGraphEventRecordNodeGetEvent) X(cudaGraphEventRecordNodeSetEvent) \
    X(cudaGraphEventWaitNodeGetEvent) X(cudaGraphEventWaitNodeSetEvent) X(cudaGraphExecChildGraphNodeSetParams) \
    X(cudaGraphExecDestroy) X(cudaGraphExecEventRecordNodeSetEvent) X(cudaGraphExecEventWaitNodeSetEvent) \
    X(cudaGraphExecExternalSemaphoresSignalNodeSetParams) X(cudaGraphExecExternalSemaphoresWaitNodeSetParams) \
    X(cudaGraphExecGetFlags) X(cudaGraphExecHostNodeSetParams) X(cudaGraphExecKernelNodeSetParams) \
    X(cudaGraphExecMemcpyNodeSetParams) X(cudaGraphExecMemcpyNodeSetParams1D) \
    X(cudaGraphExecMemcpyNodeSetParamsFromSymbol) X(cudaGraphExecMemcpyNodeSetParamsToSymbol) \
    X(cudaGraphExecMemsetNodeSetParams) X(cudaGraphExecNodeSetParams) X(cudaGraphExecUpdate) \
    X(cudaGraphExternalSemaphoresSignalNodeGetParams) X(cudaGraphExternalSemaphoresSignalNodeSetParams) \
    X(cudaGraphExternalSemaphoresWaitNodeGetParams) X(cudaGraphExternalSemaphoresWaitNodeSetParams) \
    X(cudaGraphGetEdges) X(cudaGraphGetNodes) X(cudaGraphGetRootNodes) X(cudaGraphHostNodeGetParams) \
    X(cudaGraphHostNodeSetParams) X(cudaGraphInstantiate) X(cudaGraphInstantiateWithFlags) \
    X(cudaGraphInstantiateWithParams) X(cudaGraphInstantiateWithParams_ptsz) X(cudaGraphKernelNodeCopyAttributes) \
    X(cudaGraphKernelNodeGetAttribute) X(cudaGraphKernelNodeGetParams) X(cudaGraphKernelNodeSetAttribute) \
    X(cudaGraphKernelNodeSetParams) X(cudaGraphLaunch) X(cudaGraphLaunch_ptsz) X(cudaGraphMemAllocNodeGetParams) \
    X(cudaGraphMemFreeNodeGetParams) X(cudaGraphMemcpyNodeGetParams) X(cudaGraphMemcpyNodeSetParams) \
    X(cudaGraphMemcpyNodeSetParams1D) X(cudaGraphMemcpyNodeSetParamsFromSymbol) \
    X(cudaGraphMemcpyNodeSetParamsToSymbol) X(cudaGraphMemsetNodeGetParams) X(cudaGraphMemsetNodeSetParams) \
    X(cudaGraphNodeFindInClone) X(cudaGraphNodeGetDependencies) X(cudaGraphNodeGetDependentNodes) \
    X(cudaGraphNodeGetEnabled) X(cudaGraphNodeGetType) X(cudaGraphNodeSetEnabled) X(cudaGraphNodeSetParams) \
    X(cudaGraphReleaseUserObject) X(cudaGraphRemoveDependencies) X(cudaGraphRetainUserObject) X(cudaGraphUpload) \
    X(cudaGraphUpload_ptsz) X(cudaGraphicsEGLRegisterImage) X(cudaGraphicsGLRegisterBuffer) \
    X(cudaGraphicsGLRegisterImage) X(cudaGraphicsMapResources) X(cudaGraphicsResourceGetMappedEglFrame) \
    X(cudaGraphicsResourceGetMappedMipmappedArray) X(cudaGraphicsResourceGetMappedPointer) \
    X(cudaGraphicsResourceSetMapFlags) X(cudaGraphicsSubResourceGetMappedArray) X(cudaGraphicsUnmapResources) \
    X(cudaGraphicsUnregisterResource) X(cudaGraphicsVDPAURegisterOutputSurface) \
    X(cudaGraphicsVDPAURegisterVideoSurface) X(cudaHostAlloc) X(cudaHostGetDevicePointer) X(cudaHostGetFlags) \
    X(cudaHostRegister) X(cudaHostUnregister) X(cudaImportExternalMemory) X(cudaImportExternalSemaphore) \
    X(cudaInitDevice) X(cudaIpcCloseMemHandle) X(cudaIpcGetEventHandle) X(cudaIpcGetMemHandle) \
    X(cudaIpcOpenEventHandle) X(cudaIpcOpenMemHandle) X(cudaKernelSetAttributeForDevice) \
    X(cudaLaunchCooperativeKernel) X(cudaLaunchCooperativeKernel_ptsz) X(cudaLaunchHostFunc) \
    X(cudaLaunchHostFunc_ptsz) X(cudaLaunchKernel) X(cudaLaunchKernelExC) X(cudaLaunchKernelExC_ptsz) \
    X(cudaLaunchKernel_ptsz) X(cudaLibraryEnumerateKernels) X(cudaLibraryGetGlobal) X(cudaLibraryGetKernel) \
    X(cudaLibraryGetKernelCount) X(cudaLibraryGetManaged) X(cudaLibraryGetUnifiedFunction) X(cudaLibraryLoadData) \
    X(cudaLibraryLoadFromFile) X(cudaLibraryUnload) X(cudaLogsCurrent) X(cudaLogsDumpToFile) X(cudaLogsDumpToMemory) \
    X(cudaLogsRegisterCallback) X(cudaLogsUnregisterCallback) X(cudaMalloc) X(cudaMalloc3D) X(cudaMalloc3DArray) \
    X(cudaMallocArray) X(cudaMallocAsync) X(cudaMallocAsync_ptsz) X(cudaMallocFromPoolAsync) \
    X(cudaMallocFromPoolAsync_ptsz) X(cudaMallocHost) X(cudaMallocManaged) X(cudaMallocMipmappedArray) \
    X(cudaMallocPitch) X(cudaMemAdvise) X(cudaMemDiscardAndPrefetchBatchAsync) \
    X(cudaMemDiscardAndPrefetchBatchAsync_ptsz) X(cudaMemDiscardBatchAsync) X(cudaMemDiscardBatchAsync_ptsz) \
    X(cudaMemGetDefaultMemPool) X(cudaMemGetInfo) X(cudaMemGetMemPool) X(cudaMemPoolCreate) X(cudaMemPoolDestroy) \
    X(cudaMemPoolExportPointer) X(cudaMemPoolExportToShareableHandle) X(cudaMemPoolGetAccess) \
    X(cudaMemPoolGetAttribute) X(cudaMemPoolImportFromShareableHandle) X(cudaMemPoolImportPointer) \
    X(cudaMemPoolSetAccess) X(cudaMemPoolSetAttribute) X(cudaMemPoolTrimTo) X(cudaMemPrefetchAsync) \
    X(cudaMemPrefetchAsync_ptsz) X(cudaMemPrefetchBatchAsync) X(cudaMemPrefetchBatchAsync_ptsz) \
    X(cudaMemRangeGetAttribute) X(cudaMemRangeGetAttributes) X(cudaMemSetMemPool) X(cudaMemcpy) X(cudaMemcpy2D) \
    X(cudaMemcpy2DArrayToArray) X(cudaMemcpy2DArrayToArray_ptds) X(cudaMemcpy2DAsync) X(cudaMemcpy2DAsync_ptsz) \
    X(cudaMemcpy2DFromArray) X(cudaMemcpy2DFromArrayAsync) X(cudaMemcpy2DFromArrayAsync_ptsz) \
    X(cudaMemcpy2DFromArray_ptds) X(cudaMemcpy2DToArray) X(cudaMemcpy2DToArrayAsync) \
    X(cudaMemcpy2DToArrayAsync_ptsz) X(cudaMemcpy2DToArray_ptds) X(cudaMemcpy2D_ptds) X(cudaMemcpy3D) \
    X(cudaMemcpy3DAsync) X(cudaMemcpy3DAsync_ptsz) X(cudaMemcpy3DBatchAsync) X(cudaMemcpy3DBatchAsync_ptsz) \
    X(cudaMemcpy3DPeer) X(cudaMemcpy3DPeerAsync) X(cudaMemcpy3DPeerAsync_ptsz) X(cudaMemcpy3DPeer_ptds) \
    X(cudaMemcpy3D_ptds) X(cudaMemcpyArrayToArray) X(cudaMemcpyArrayToArray_ptds) X(cudaMemcpyAsync) \
    X(cudaMemcpyAsync_ptsz) X(cudaMemcpyBatchAsync) X(cudaMemcpyBatchAsync_ptsz) X(cudaMemcpyFromArray) \
    X(cudaMemcpyFromArrayAsync) X(cudaMemcpyFromArrayAsync_ptsz) X(cudaMemcpyFromArray_ptds) X(cudaMemcpyFromSymbol) \
    X(cudaMemcpyFromSymbolAsync) X(cudaMemcpyFromSymbolAsync_ptsz) X(cudaMemcpyFromSymbol_ptds) X(cudaMemcpyPeer) \
    X(cudaMemcpyPeerAsync) X(cudaMemcpyToArray) X(cudaMemcpyToArrayAsync) X(cudaMemcpyToArrayAsync_ptsz) \
    X(cudaMemcpyToArray_ptds) X(cudaMemcpyToSymbol) X(cudaMemcpyToSymbolAsync) X(cudaMemcpyToSymbolAsync_ptsz) \
    X(cudaMemcpyToSymbol_ptds) X(cudaMemcpy_ptds) X(cudaMemset) X(cudaMemset2D) X(cudaMemset2DAsync) \
    X(cudaMemset2DAsync_ptsz) X(cudaMemset2D_ptds) X(cudaMemset3D) X(cudaMemset3DAsync) X(cudaMemset3DAsync_ptsz) \
    X(cudaMemset3D_ptds) X(cudaMemsetAsync) X(cudaMemsetAsync_ptsz) X(cudaMemset_ptds) \
    X(cudaMipmappedArrayGetMemoryRequirements) X(cudaMipmappedArrayGetSparseProperties) \
    X(cudaOccupancyAvailableDynamicSMemPerBlock) X(cudaOccupancyMaxActiveBlocksPerMultiprocessor) \
    X(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags) X(cudaOccupancyMaxActiveClusters) \
    X(cudaOccupancyMaxPotentialClusterSize) X(cudaPeekAtLastError) X(cudaPointerGetAttributes) X(cudaProfilerStart) \
    X(cudaProfilerStop) X(cudaRuntimeGetVersion) X(cudaSetDevice) X(cudaSetDeviceFlags) X(cudaSetValidDevices) \
    X(cudaSignalExternalSemaphoresAsync) X(cudaSignalExternalSemaphoresAsync_ptsz) X(cudaStreamAddCallback) \
    X(cudaStreamAddCallback_ptsz) X(cudaStreamAttachMemAsync) X(cudaStreamAttachMemAsync_ptsz) \
    X(cudaStreamBeginCapture) X(cudaStreamBeginCaptureToGraph) X(cudaStreamBeginCaptureToGraph_ptsz) \
    X(cudaStreamBeginCapture_ptsz) X(cudaStreamCopyAttributes) X(cudaStreamCopyAttributes_ptsz) X(cudaStreamCreate) \
    X(cudaStreamCreateWithFlags) X(cudaStreamCreateWithPriority) X(cudaStreamDestroy) X(cudaStreamEndCapture) \
    X(cudaStreamEndCapture_ptsz) X(cudaStreamGetAttribute) X(cudaStreamGetAttribute_ptsz) \
    X(cudaStreamGetCaptureInfo) X(cudaStreamGetCaptureInfo_ptsz) X(cudaStreamGetDevice) X(cudaStreamGetDevice_ptsz) \
    X(cudaStreamGetFlags) X(cudaStreamGetFlags_ptsz) X(cudaStreamGetId) X(cudaStreamGetId_ptsz) \
    X(cudaStreamGetPriority) X(cudaStreamGetPriority_ptsz) X(cudaStreamIsCapturing) X(cudaStreamIsCapturing_ptsz) \
    X(cudaStreamQuery) X(cudaStreamQuery_ptsz) X(cudaStreamSetAttribute) X(cudaStreamSetAttribute_ptsz) \
    X(cudaStreamSynchronize) X(cudaStreamSynchronize_ptsz) X(cudaStreamUpdateCaptureDependencies) \
    X(cudaStreamUpdateCaptureDependencies_ptsz) X(cudaStreamWaitEvent) X(cudaStreamWaitEvent_ptsz) \
    X(cudaThreadExchangeStreamCaptureMode) X(cudaUserObjectCreate) X(cudaUserObjectRelease) X(cudaUserObjectRetain) \
    X(cudaVDPAUGetDevice) X(cudaVDPAUSetVDPAUDevice) X(cudaWaitExternalSemaphoresAsync) \
    X(cudaWaitExternalSemaphoresAsync_ptsz)
/* clang-format on */

#endif
