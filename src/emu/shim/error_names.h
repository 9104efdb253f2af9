/*
 * Error codes of the driver API and of the runtime, which share their numbers. NULL: that API has no such code; no text:
 * the name says enough.
 */
#ifndef PTXBENCH_EMU_SHIM_ERROR_NAMES_H
#define PTXBENCH_EMU_SHIM_ERROR_NAMES_H

/* clang-format off */
/* code, name in the driver API, name in the runtime, text */
#define ERROR_NAMES(X) \
    X(0, "CUDA_SUCCESS", "cudaSuccess", "no error") \
    X(1, "CUDA_ERROR_INVALID_VALUE", "cudaErrorInvalidValue", "invalid argument") \
    X(2, "CUDA_ERROR_OUT_OF_MEMORY", "cudaErrorMemoryAllocation", "out of memory") \
    X(3, "CUDA_ERROR_NOT_INITIALIZED", "cudaErrorInitializationError", "initialization error") \
    X(4, "CUDA_ERROR_DEINITIALIZED", "cudaErrorCudartUnloading", "driver shutting down") \
    X(5, "CUDA_ERROR_PROFILER_DISABLED", "cudaErrorProfilerDisabled", NULL) \
    X(6, "CUDA_ERROR_PROFILER_NOT_INITIALIZED", "cudaErrorProfilerNotInitialized", NULL) \
    X(7, "CUDA_ERROR_PROFILER_ALREADY_STARTED", "cudaErrorProfilerAlreadyStarted", NULL) \
    X(8, "CUDA_ERROR_PROFILER_ALREADY_STOPPED", "cudaErrorProfilerAlreadyStopped", NULL) \
    X(9, NULL, "cudaErrorInvalidConfiguration", "invalid configuration argument") \
    X(12, NULL, "cudaErrorInvalidPitchValue", "invalid pitch argument") \
    X(13, NULL, "cudaErrorInvalidSymbol", "invalid device symbol") \
    X(16, NULL, "cudaErrorInvalidHostPointer", "invalid host pointer") \
    X(17, NULL, "cudaErrorInvalidDevicePointer", "invalid device pointer") \
    X(18, NULL, "cudaErrorInvalidTexture", NULL) \
    X(19, NULL, "cudaErrorInvalidTextureBinding", NULL) \
    X(20, NULL, "cudaErrorInvalidChannelDescriptor", NULL) \
    X(21, NULL, "cudaErrorInvalidMemcpyDirection", "invalid copy direction for memcpy") \
    X(22, NULL, "cudaErrorAddressOfConstant", NULL) \
    X(23, NULL, "cudaErrorTextureFetchFailed", NULL) \
    X(24, NULL, "cudaErrorTextureNotBound", NULL) \
    X(25, NULL, "cudaErrorSynchronizationError", NULL) \
    X(26, NULL, "cudaErrorInvalidFilterSetting", NULL) \
    X(27, NULL, "cudaErrorInvalidNormSetting", NULL) \
    X(28, NULL, "cudaErrorMixedDeviceExecution", NULL) \
    X(31, NULL, "cudaErrorNotYetImplemented", NULL) \
    X(32, NULL, "cudaErrorMemoryValueTooLarge", NULL) \
    X(34, "CUDA_ERROR_STUB_LIBRARY", "cudaErrorStubLibrary", NULL) \
    X(35, NULL, "cudaErrorInsufficientDriver", "CUDA driver version is insufficient for CUDA runtime version") \
    X(36, "CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER", "cudaErrorCallRequiresNewerDriver", NULL) \
    X(37, NULL, "cudaErrorInvalidSurface", NULL) \
    X(43, NULL, "cudaErrorDuplicateVariableName", NULL) \
    X(44, NULL, "cudaErrorDuplicateTextureName", NULL) \
    X(45, NULL, "cudaErrorDuplicateSurfaceName", NULL) \
    X(46, "CUDA_ERROR_DEVICE_UNAVAILABLE", "cudaErrorDevicesUnavailable", NULL) \
    X(49, NULL, "cudaErrorIncompatibleDriverContext", NULL) \
    X(52, NULL, "cudaErrorMissingConfiguration", "no launch configuration was pushed") \
    X(53, NULL, "cudaErrorPriorLaunchFailure", NULL) \
    X(65, NULL, "cudaErrorLaunchMaxDepthExceeded", NULL) \
    X(66, NULL, "cudaErrorLaunchFileScopedTex", NULL) \
    X(67, NULL, "cudaErrorLaunchFileScopedSurf", NULL) \
    X(68, NULL, "cudaErrorSyncDepthExceeded", NULL) \
    X(69, NULL, "cudaErrorLaunchPendingCountExceeded", NULL) \
    X(98, NULL, "cudaErrorInvalidDeviceFunction", "invalid device function") \
    X(100, "CUDA_ERROR_NO_DEVICE", "cudaErrorNoDevice", "no CUDA-capable device is detected") \
    X(101, "CUDA_ERROR_INVALID_DEVICE", "cudaErrorInvalidDevice", "invalid device ordinal") \
    X(102, "CUDA_ERROR_DEVICE_NOT_LICENSED", "cudaErrorDeviceNotLicensed", NULL) \
    X(103, NULL, "cudaErrorSoftwareValidityNotEstablished", NULL) \
    X(127, NULL, "cudaErrorStartupFailure", NULL) \
    X(200, "CUDA_ERROR_INVALID_IMAGE", "cudaErrorInvalidKernelImage", "device kernel image is invalid") \
    X(201, "CUDA_ERROR_INVALID_CONTEXT", "cudaErrorDeviceUninitialized", "invalid device context") \
    X(202, "CUDA_ERROR_CONTEXT_ALREADY_CURRENT", NULL, NULL) \
    X(205, "CUDA_ERROR_MAP_FAILED", "cudaErrorMapBufferObjectFailed", NULL) \
    X(206, "CUDA_ERROR_UNMAP_FAILED", "cudaErrorUnmapBufferObjectFailed", NULL) \
    X(207, "CUDA_ERROR_ARRAY_IS_MAPPED", "cudaErrorArrayIsMapped", NULL) \
    X(208, "CUDA_ERROR_ALREADY_MAPPED", "cudaErrorAlreadyMapped", NULL) \
    X(209, "CUDA_ERROR_NO_BINARY_FOR_GPU", "cudaErrorNoKernelImageForDevice", "no kernel image is available for execution on the device") \
    X(210, "CUDA_ERROR_ALREADY_ACQUIRED", "cudaErrorAlreadyAcquired", NULL) \
    X(211, "CUDA_ERROR_NOT_MAPPED", "cudaErrorNotMapped", NULL) \
    X(212, "CUDA_ERROR_NOT_MAPPED_AS_ARRAY", "cudaErrorNotMappedAsArray", NULL) \
    X(213, "CUDA_ERROR_NOT_MAPPED_AS_POINTER", "cudaErrorNotMappedAsPointer", NULL) \
    X(214, "CUDA_ERROR_ECC_UNCORRECTABLE", "cudaErrorECCUncorrectable", NULL) \
    X(215, "CUDA_ERROR_UNSUPPORTED_LIMIT", "cudaErrorUnsupportedLimit", NULL) \
    X(216, "CUDA_ERROR_CONTEXT_ALREADY_IN_USE", "cudaErrorDeviceAlreadyInUse", NULL) \
    X(217, "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED", "cudaErrorPeerAccessUnsupported", NULL) \
    X(218, "CUDA_ERROR_INVALID_PTX", "cudaErrorInvalidPtx", "a PTX JIT compilation failed") \
    X(219, "CUDA_ERROR_INVALID_GRAPHICS_CONTEXT", "cudaErrorInvalidGraphicsContext", NULL) \
    X(220, "CUDA_ERROR_NVLINK_UNCORRECTABLE", "cudaErrorNvlinkUncorrectable", NULL) \
    X(221, "CUDA_ERROR_JIT_COMPILER_NOT_FOUND", "cudaErrorJitCompilerNotFound", NULL) \
    X(222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION", "cudaErrorUnsupportedPtxVersion", "the provided PTX was compiled with an unsupported toolchain") \
    X(223, "CUDA_ERROR_JIT_COMPILATION_DISABLED", "cudaErrorJitCompilationDisabled", NULL) \
    X(224, "CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY", "cudaErrorUnsupportedExecAffinity", NULL) \
    X(225, "CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC", "cudaErrorUnsupportedDevSideSync", NULL) \
    X(226, "CUDA_ERROR_CONTAINED", "cudaErrorContained", NULL) \
    X(300, "CUDA_ERROR_INVALID_SOURCE", "cudaErrorInvalidSource", NULL) \
    X(301, "CUDA_ERROR_FILE_NOT_FOUND", "cudaErrorFileNotFound", "file not found") \
    X(302, "CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND", "cudaErrorSharedObjectSymbolNotFound", NULL) \
    X(303, "CUDA_ERROR_SHARED_OBJECT_INIT_FAILED", "cudaErrorSharedObjectInitFailed", NULL) \
    X(304, "CUDA_ERROR_OPERATING_SYSTEM", "cudaErrorOperatingSystem", "OS call failed or operation not supported on this OS") \
    X(400, "CUDA_ERROR_INVALID_HANDLE", "cudaErrorInvalidResourceHandle", "invalid resource handle") \
    X(401, "CUDA_ERROR_ILLEGAL_STATE", "cudaErrorIllegalState", "the operation cannot be performed in the present state") \
    X(402, "CUDA_ERROR_LOSSY_QUERY", "cudaErrorLossyQuery", NULL) \
    X(500, "CUDA_ERROR_NOT_FOUND", "cudaErrorSymbolNotFound", "named symbol not found") \
    X(600, "CUDA_ERROR_NOT_READY", "cudaErrorNotReady", "device not ready") \
    X(700, "CUDA_ERROR_ILLEGAL_ADDRESS", "cudaErrorIllegalAddress", "an illegal memory access was encountered") \
    X(701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "cudaErrorLaunchOutOfResources", "too many resources requested for launch") \
    X(702, "CUDA_ERROR_LAUNCH_TIMEOUT", "cudaErrorLaunchTimeout", "the launch timed out and was terminated") \
    X(703, "CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING", "cudaErrorLaunchIncompatibleTexturing", NULL) \
    X(704, "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED", "cudaErrorPeerAccessAlreadyEnabled", "peer access is already enabled") \
    X(705, "CUDA_ERROR_PEER_ACCESS_NOT_ENABLED", "cudaErrorPeerAccessNotEnabled", "peer access has not been enabled") \
    X(708, "CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE", "cudaErrorSetOnActiveProcess", NULL) \
    X(709, "CUDA_ERROR_CONTEXT_IS_DESTROYED", "cudaErrorContextIsDestroyed", NULL) \
    X(710, "CUDA_ERROR_ASSERT", "cudaErrorAssert", "device-side assert triggered") \
    X(711, "CUDA_ERROR_TOO_MANY_PEERS", "cudaErrorTooManyPeers", NULL) \
    X(712, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED", "cudaErrorHostMemoryAlreadyRegistered", "part or all of the requested memory range is already mapped") \
    X(713, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED", "cudaErrorHostMemoryNotRegistered", "pointer does not correspond to a registered memory region") \
    X(714, "CUDA_ERROR_HARDWARE_STACK_ERROR", "cudaErrorHardwareStackError", NULL) \
    X(715, "CUDA_ERROR_ILLEGAL_INSTRUCTION", "cudaErrorIllegalInstruction", "an illegal instruction was encountered") \
    X(716, "CUDA_ERROR_MISALIGNED_ADDRESS", "cudaErrorMisalignedAddress", "misaligned address") \
    X(717, "CUDA_ERROR_INVALID_ADDRESS_SPACE", "cudaErrorInvalidAddressSpace", "operation not supported on global/shared address space") \
    X(718, "CUDA_ERROR_INVALID_PC", "cudaErrorInvalidPc", NULL) \
    X(719, "CUDA_ERROR_LAUNCH_FAILED", "cudaErrorLaunchFailure", "unspecified launch failure") \
    X(720, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE", "cudaErrorCooperativeLaunchTooLarge", "too many blocks in cooperative launch") \
    X(721, "CUDA_ERROR_TENSOR_MEMORY_LEAK", "cudaErrorTensorMemoryLeak", NULL) \
    X(800, "CUDA_ERROR_NOT_PERMITTED", "cudaErrorNotPermitted", "operation not permitted") \
    X(801, "CUDA_ERROR_NOT_SUPPORTED", "cudaErrorNotSupported", "operation not supported") \
    X(802, "CUDA_ERROR_SYSTEM_NOT_READY", "cudaErrorSystemNotReady", NULL) \
    X(803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "cudaErrorSystemDriverMismatch", NULL) \
    X(804, "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE", "cudaErrorCompatNotSupportedOnDevice", NULL) \
    X(805, "CUDA_ERROR_MPS_CONNECTION_FAILED", "cudaErrorMpsConnectionFailed", NULL) \
    X(806, "CUDA_ERROR_MPS_RPC_FAILURE", "cudaErrorMpsRpcFailure", NULL) \
    X(807, "CUDA_ERROR_MPS_SERVER_NOT_READY", "cudaErrorMpsServerNotReady", NULL) \
    X(808, "CUDA_ERROR_MPS_MAX_CLIENTS_REACHED", "cudaErrorMpsMaxClientsReached", NULL) \
    X(809, "CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED", "cudaErrorMpsMaxConnectionsReached", NULL) \
    X(810, "CUDA_ERROR_MPS_CLIENT_TERMINATED", "cudaErrorMpsClientTerminated", NULL) \
    X(811, "CUDA_ERROR_CDP_NOT_SUPPORTED", "cudaErrorCdpNotSupported", NULL) \
    X(812, "CUDA_ERROR_CDP_VERSION_MISMATCH", "cudaErrorCdpVersionMismatch", NULL) \
    X(900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "cudaErrorStreamCaptureUnsupported", "operation not permitted when stream is capturing") \
    X(901, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", "cudaErrorStreamCaptureInvalidated", NULL) \
    X(902, "CUDA_ERROR_STREAM_CAPTURE_MERGE", "cudaErrorStreamCaptureMerge", NULL) \
    X(903, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED", "cudaErrorStreamCaptureUnmatched", NULL) \
    X(904, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED", "cudaErrorStreamCaptureUnjoined", NULL) \
    X(905, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION", "cudaErrorStreamCaptureIsolation", NULL) \
    X(906, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT", "cudaErrorStreamCaptureImplicit", NULL) \
    X(907, "CUDA_ERROR_CAPTURED_EVENT", "cudaErrorCapturedEvent", NULL) \
    X(908, "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD", "cudaErrorStreamCaptureWrongThread", NULL) \
    X(909, "CUDA_ERROR_TIMEOUT", "cudaErrorTimeout", NULL) \
    X(910, "CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE", "cudaErrorGraphExecUpdateFailure", NULL) \
    X(911, "CUDA_ERROR_EXTERNAL_DEVICE", "cudaErrorExternalDevice", NULL) \
    X(912, "CUDA_ERROR_INVALID_CLUSTER_SIZE", "cudaErrorInvalidClusterSize", "invalid cluster size") \
    X(913, "CUDA_ERROR_FUNCTION_NOT_LOADED", "cudaErrorFunctionNotLoaded", NULL) \
    X(914, "CUDA_ERROR_INVALID_RESOURCE_TYPE", "cudaErrorInvalidResourceType", NULL) \
    X(915, "CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION", "cudaErrorInvalidResourceConfiguration", NULL) \
    X(916, "CUDA_ERROR_KEY_ROTATION", NULL, NULL) \
    X(999, "CUDA_ERROR_UNKNOWN", "cudaErrorUnknown", "unknown error")
/* clang-format on */

#endif
