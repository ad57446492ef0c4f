// A Vulkan layer under which new memory is zero, as Direct3D promises: Wine leaves that to the driver, and Vulkan promises
// nothing. For one driver, all of whose memory the processor can write (lavapipe).
#include <string.h>
#include <vulkan/vk_layer.h>
#include <vulkan/vulkan.h>

static PFN_vkGetInstanceProcAddr of_instance;
static PFN_vkGetDeviceProcAddr of_device;
static PFN_vkAllocateMemory allocate;
static PFN_vkMapMemory map;
static PFN_vkUnmapMemory unmap;

// The link of a chain by which the loader names the next layer.
static void *link_in(const void *chain, VkStructureType type) {
    const VkLayerInstanceCreateInfo *at = chain;
    while (at && !(at->sType == type && at->function == VK_LAYER_LINK_INFO)) at = at->pNext;
    return (void *)at;
}

static VKAPI_ATTR VkResult VKAPI_CALL create_instance(const VkInstanceCreateInfo *info,
                                                      const VkAllocationCallbacks *callbacks, VkInstance *made) {
    VkLayerInstanceCreateInfo *link = link_in(info->pNext, VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO);
    if (!link) return VK_ERROR_INITIALIZATION_FAILED;
    of_instance = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
    link->u.pLayerInfo = link->u.pLayerInfo->pNext;
    return ((PFN_vkCreateInstance)of_instance(0, "vkCreateInstance"))(info, callbacks, made);
}

static VKAPI_ATTR VkResult VKAPI_CALL create_device(VkPhysicalDevice physical, const VkDeviceCreateInfo *info,
                                                    const VkAllocationCallbacks *callbacks, VkDevice *made) {
    VkLayerDeviceCreateInfo *link = link_in(info->pNext, VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO);
    if (!link) return VK_ERROR_INITIALIZATION_FAILED;
    PFN_vkGetInstanceProcAddr next = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
    of_device = link->u.pLayerInfo->pfnNextGetDeviceProcAddr;
    link->u.pLayerInfo = link->u.pLayerInfo->pNext;
    VkResult result = ((PFN_vkCreateDevice)next(0, "vkCreateDevice"))(physical, info, callbacks, made);
    if (result == VK_SUCCESS) {
        allocate = (PFN_vkAllocateMemory)of_device(*made, "vkAllocateMemory");
        map = (PFN_vkMapMemory)of_device(*made, "vkMapMemory");
        unmap = (PFN_vkUnmapMemory)of_device(*made, "vkUnmapMemory");
    }
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL allocate_zero(VkDevice device, const VkMemoryAllocateInfo *info,
                                                    const VkAllocationCallbacks *callbacks, VkDeviceMemory *made) {
    VkResult result = allocate(device, info, callbacks, made);
    void *bytes;
    if (result == VK_SUCCESS && map(device, *made, 0, VK_WHOLE_SIZE, 0, &bytes) == VK_SUCCESS) {
        memset(bytes, 0, info->allocationSize);
        unmap(device, *made);
    }
    return result;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL device_function(VkDevice device, const char *name) {
    if (!strcmp(name, "vkGetDeviceProcAddr")) return (PFN_vkVoidFunction)device_function;
    if (!strcmp(name, "vkAllocateMemory")) return (PFN_vkVoidFunction)allocate_zero;
    return of_device(device, name);
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL instance_function(VkInstance instance, const char *name) {
    if (!strcmp(name, "vkGetInstanceProcAddr")) return (PFN_vkVoidFunction)instance_function;
    if (!strcmp(name, "vkCreateInstance")) return (PFN_vkVoidFunction)create_instance;
    if (!strcmp(name, "vkCreateDevice")) return (PFN_vkVoidFunction)create_device;
    if (!strcmp(name, "vkGetDeviceProcAddr")) return (PFN_vkVoidFunction)device_function;
    if (!strcmp(name, "vkAllocateMemory")) return (PFN_vkVoidFunction)allocate_zero;
    return of_instance ? of_instance(instance, name) : 0;
}

__attribute__((visibility("default"))) VKAPI_ATTR VkResult VKAPI_CALL
zeroed_negotiate(VkNegotiateLayerInterface *table) {
    table->loaderLayerInterfaceVersion = 2;
    table->pfnGetInstanceProcAddr = instance_function;
    table->pfnGetDeviceProcAddr = device_function;
    table->pfnGetPhysicalDeviceProcAddr = 0;
    return VK_SUCCESS;
}
