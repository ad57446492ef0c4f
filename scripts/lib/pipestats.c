// A Vulkan layer that writes what the driver says of every compute pipeline of a program, which need not know of it.
//
// It turns on VK_KHR_pipeline_executable_properties behind the program's back and adds CAPTURE_STATISTICS to every
// compute pipeline. For each it appends a line `PIPE number invocations`, and a line of each of its executables with all
// statistics, to the file PIPESTATS. With PIPESTATS_IR=FOLDER the driver's texts - assembly among them - go there, as
// NUMBER-EXECUTABLE-NAME.txt.
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vulkan/vk_layer.h>
#include <vulkan/vulkan.h>

enum { MANY = 256, MODULES = 8192 };

// Handles of one instance or device share the loader's table, which stands first in each.
#define KEY(handle) (*(void **)(handle))

typedef struct {
    void *key;
    VkInstance handle;
    PFN_vkGetInstanceProcAddr next;
} Instance;

typedef struct {
    void *key;
    VkDevice handle;
    PFN_vkGetDeviceProcAddr next;
    int has_statistics;
    PFN_vkCreateComputePipelines pipelines;
    PFN_vkCreateShaderModule module;
    PFN_vkGetPipelineExecutablePropertiesKHR executables;
    PFN_vkGetPipelineExecutableStatisticsKHR statistics;
    PFN_vkGetPipelineExecutableInternalRepresentationsKHR texts;
} Device;

typedef struct {
    VkShaderModule handle;
    unsigned lanes;
} Module;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Instance instances[MANY];
static Device devices[MANY];
static Module modules[MODULES];
static unsigned instance_count, device_count, module_count, serial;

static Instance *instance_of(void *handle) {
    for (unsigned i = instance_count; i-- > 0;)
        if (instances[i].key == KEY(handle)) return &instances[i];
    return 0;
}

static Device *device_of(void *handle) {
    for (unsigned i = device_count; i-- > 0;)
        if (devices[i].key == KEY(handle)) return &devices[i];
    return 0;
}

static VKAPI_ATTR VkResult VKAPI_CALL CreateInstance(const VkInstanceCreateInfo *info,
                                                     const VkAllocationCallbacks *allocator, VkInstance *out) {
    VkLayerInstanceCreateInfo *link = (VkLayerInstanceCreateInfo *)info->pNext;
    while (link && !(link->sType == VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO &&
                     link->function == VK_LAYER_LINK_INFO))
        link = (void *)link->pNext;
    if (!link) return VK_ERROR_INITIALIZATION_FAILED;
    PFN_vkGetInstanceProcAddr next = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
    link->u.pLayerInfo = link->u.pLayerInfo->pNext;
    VkResult result = ((PFN_vkCreateInstance)next(0, "vkCreateInstance"))(info, allocator, out);
    if (result) return result;
    pthread_mutex_lock(&lock);
    instances[instance_count++ % MANY] = (Instance){KEY(*out), *out, next};
    if (instance_count > MANY) instance_count = MANY;
    pthread_mutex_unlock(&lock);
    return result;
}

static int has_statistics(Instance *instance, VkPhysicalDevice physical) {
    PFN_vkEnumerateDeviceExtensionProperties list = (PFN_vkEnumerateDeviceExtensionProperties)instance->next(
        instance->handle, "vkEnumerateDeviceExtensionProperties");
    uint32_t count = 0;
    int has = 0;
    list(physical, 0, &count, 0);
    VkExtensionProperties *all = calloc(count + 1, sizeof *all);
    list(physical, 0, &count, all);
    for (uint32_t i = 0; i < count; i++)
        has |= !strcmp(all[i].extensionName, VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME);
    free(all);
    return has;
}

static VKAPI_ATTR VkResult VKAPI_CALL CreateDevice(VkPhysicalDevice physical, const VkDeviceCreateInfo *info,
                                                   const VkAllocationCallbacks *allocator, VkDevice *out) {
    VkLayerDeviceCreateInfo *link = (VkLayerDeviceCreateInfo *)info->pNext;
    while (link && !(link->sType == VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO &&
                     link->function == VK_LAYER_LINK_INFO))
        link = (void *)link->pNext;
    if (!link) return VK_ERROR_INITIALIZATION_FAILED;
    PFN_vkGetInstanceProcAddr of_instance = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
    PFN_vkGetDeviceProcAddr next = link->u.pLayerInfo->pfnNextGetDeviceProcAddr;
    link->u.pLayerInfo = link->u.pLayerInfo->pNext;
    Instance *instance = instance_of(physical);
    PFN_vkCreateDevice create = (PFN_vkCreateDevice)of_instance(instance->handle, "vkCreateDevice");
    int has = has_statistics(instance, physical);

    VkDeviceCreateInfo more = *info;
    VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR feature = {
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR, (void *)info->pNext, VK_TRUE};
    const char **names = calloc(info->enabledExtensionCount + 1, sizeof *names);
    if (has) {
        memcpy(names, info->ppEnabledExtensionNames, info->enabledExtensionCount * sizeof *names);
        names[more.enabledExtensionCount++] = VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME;
        more.ppEnabledExtensionNames = names;
        more.pNext = &feature;
    } else {
        fprintf(stderr, "pipestats: the driver lacks VK_KHR_pipeline_executable_properties\n");
    }
    VkResult result = create(physical, &more, allocator, out);
    free(names);
    if (result) return result;
    pthread_mutex_lock(&lock);
#define NEXT(name) (PFN_vk##name) next(*out, "vk" #name)
    devices[device_count++ % MANY] = (Device){
        .key = KEY(*out),
        .handle = *out,
        .next = next,
        .has_statistics = has,
        .pipelines = NEXT(CreateComputePipelines),
        .module = NEXT(CreateShaderModule),
        .executables = NEXT(GetPipelineExecutablePropertiesKHR),
        .statistics = NEXT(GetPipelineExecutableStatisticsKHR),
        .texts = NEXT(GetPipelineExecutableInternalRepresentationsKHR),
    };
    if (device_count > MANY) device_count = MANY;
    pthread_mutex_unlock(&lock);
    return result;
}

// Invocations of a workgroup, out of SPIR-V: OpExecutionMode LocalSize.
static unsigned lanes_of(const uint32_t *code, size_t words) {
    for (size_t i = 5; i < words && code[i] >> 16; i += code[i] >> 16)
        if ((code[i] & 0xffff) == 16 && code[i + 2] == 17) return code[i + 3] * code[i + 4] * code[i + 5];
    return 0;
}

static VKAPI_ATTR VkResult VKAPI_CALL CreateShaderModule(VkDevice device, const VkShaderModuleCreateInfo *info,
                                                         const VkAllocationCallbacks *allocator, VkShaderModule *out) {
    VkResult result = device_of(device)->module(device, info, allocator, out);
    if (result) return result;
    pthread_mutex_lock(&lock);
    modules[module_count++ % MODULES] = (Module){*out, lanes_of(info->pCode, info->codeSize / 4)};
    pthread_mutex_unlock(&lock);
    return result;
}

// The newest module of a handle: drivers use handles again.
static unsigned lanes_of_module(VkShaderModule handle) {
    unsigned last = module_count, first = last > MODULES ? last - MODULES : 0;
    while (last-- > first)
        if (modules[last % MODULES].handle == handle) return modules[last % MODULES].lanes;
    return 0;
}

static void write_texts(Device *device, const VkPipelineExecutableInfoKHR *executable, unsigned number) {
    const char *folder = getenv("PIPESTATS_IR");
    if (!folder) return;
    uint32_t count = 0;
    device->texts(device->handle, executable, &count, 0);
    VkPipelineExecutableInternalRepresentationKHR *texts = calloc(count + 1, sizeof *texts);
    for (uint32_t i = 0; i < count; i++)
        texts[i].sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INTERNAL_REPRESENTATION_KHR;
    device->texts(device->handle, executable, &count, texts);
    for (uint32_t i = 0; i < count; i++) texts[i].pData = calloc(1, texts[i].dataSize + 1);
    device->texts(device->handle, executable, &count, texts);
    for (uint32_t i = 0; i < count; i++) {
        char name[VK_MAX_DESCRIPTION_SIZE], path[4096];
        snprintf(name, sizeof name, "%s", texts[i].name);
        for (char *c = name; *c; c++)
            if (*c == ' ' || *c == '/') *c = '_';
        snprintf(path, sizeof path, "%s/%u-%u-%s.txt", folder, number, executable->executableIndex, name);
        FILE *file = fopen(path, "wb");
        if (file) {
            // Some drivers count the closing zero.
            fwrite(texts[i].pData, 1, strnlen(texts[i].pData, texts[i].dataSize), file);
            fclose(file);
        }
        free(texts[i].pData);
    }
    free(texts);
}

static void write_statistics(Device *device, const VkPipelineExecutableInfoKHR *executable, FILE *file) {
    uint32_t count = 0;
    device->statistics(device->handle, executable, &count, 0);
    VkPipelineExecutableStatisticKHR *all = calloc(count + 1, sizeof *all);
    for (uint32_t i = 0; i < count; i++) all[i].sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_STATISTIC_KHR;
    device->statistics(device->handle, executable, &count, all);
    for (uint32_t i = 0; i < count; i++) {
        fprintf(file, "; %s=", all[i].name);
        switch (all[i].format) {
        case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_BOOL32_KHR: fprintf(file, "%u", all[i].value.b32); break;
        case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_INT64_KHR:
            fprintf(file, "%lld", (long long)all[i].value.i64);
            break;
        case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_UINT64_KHR:
            fprintf(file, "%llu", (unsigned long long)all[i].value.u64);
            break;
        default: fprintf(file, "%g", all[i].value.f64);
        }
    }
    free(all);
}

// What the driver says of a pipeline. Under the lock: a file has one writer at a time.
static void tell(Device *device, VkPipeline pipeline, VkShaderModule module) {
    const char *path = getenv("PIPESTATS");
    FILE *file = path ? fopen(path, "a") : 0;
    if (!file || !device->has_statistics) return;
    unsigned number = ++serial;
    uint32_t count = 0;
    VkPipelineInfoKHR info = {VK_STRUCTURE_TYPE_PIPELINE_INFO_KHR, 0, pipeline};
    device->executables(device->handle, &info, &count, 0);
    VkPipelineExecutablePropertiesKHR *all = calloc(count + 1, sizeof *all);
    for (uint32_t i = 0; i < count; i++) all[i].sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_PROPERTIES_KHR;
    device->executables(device->handle, &info, &count, all);
    fprintf(file, "PIPE %u %u\n", number, lanes_of_module(module));
    for (uint32_t i = 0; i < count; i++) {
        VkPipelineExecutableInfoKHR executable = {VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INFO_KHR, 0, pipeline, i};
        fprintf(file, "EXE %u; subgroup=%u", i, all[i].subgroupSize);
        write_statistics(device, &executable, file);
        fprintf(file, "\n");
        write_texts(device, &executable, number);
    }
    free(all);
    fclose(file);
}

static VKAPI_ATTR VkResult VKAPI_CALL CreateComputePipelines(VkDevice handle, VkPipelineCache cache, uint32_t count,
                                                             const VkComputePipelineCreateInfo *infos,
                                                             const VkAllocationCallbacks *allocator, VkPipeline *out) {
    Device *device = device_of(handle);
    VkComputePipelineCreateInfo *more = malloc(count * sizeof *more);
    memcpy(more, infos, count * sizeof *more);
    VkPipelineCreateFlags flags = VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR;
    if (getenv("PIPESTATS_IR")) flags |= VK_PIPELINE_CREATE_CAPTURE_INTERNAL_REPRESENTATIONS_BIT_KHR;
    if (device->has_statistics)
        for (uint32_t i = 0; i < count; i++) more[i].flags |= flags;
    VkResult result = device->pipelines(handle, cache, count, more, allocator, out);
    free(more);
    if (result) {
        fprintf(stderr, "pipestats: vkCreateComputePipelines gave %d\n", result);
        return result;
    }
    pthread_mutex_lock(&lock);
    for (uint32_t i = 0; i < count; i++) tell(device, out[i], infos[i].stage.module);
    pthread_mutex_unlock(&lock);
    return result;
}

static PFN_vkVoidFunction own(const char *name) {
#define OWN(function) \
    if (!strcmp(name, "vk" #function)) return (PFN_vkVoidFunction)function
    OWN(CreateInstance);
    OWN(CreateDevice);
    OWN(CreateShaderModule);
    OWN(CreateComputePipelines);
    return 0;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL of_device(VkDevice device, const char *name) {
    if (!strcmp(name, "vkGetDeviceProcAddr")) return (PFN_vkVoidFunction)of_device;
    PFN_vkVoidFunction function = own(name);
    return function ? function : device_of(device)->next(device, name);
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL of_instance(VkInstance instance, const char *name) {
    if (!strcmp(name, "vkGetInstanceProcAddr")) return (PFN_vkVoidFunction)of_instance;
    if (!strcmp(name, "vkGetDeviceProcAddr")) return (PFN_vkVoidFunction)of_device;
    PFN_vkVoidFunction function = own(name);
    return function ? function : instance ? instance_of(instance)->next(instance, name) : 0;
}

__attribute__((visibility("default"))) VKAPI_ATTR VkResult VKAPI_CALL
pipestats_negotiate(VkNegotiateLayerInterface *version) {
    version->loaderLayerInterfaceVersion = 2;
    version->pfnGetInstanceProcAddr = of_instance;
    version->pfnGetDeviceProcAddr = of_device;
    version->pfnGetPhysicalDeviceProcAddr = 0;
    return VK_SUCCESS;
}
