// A Vulkan layer under which work is never done: whoever asks whether it is, or waits for it, waits in vain, for as long
// as was asked. A GPU that hangs, without one.
//
// Only the questions are answered otherwise; what is submitted goes to the driver.
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <vulkan/vk_layer.h>
#include <vulkan/vulkan.h>

static PFN_vkGetInstanceProcAddr next_of_instance;
static PFN_vkGetDeviceProcAddr next_of_device;

static VkResult in_vain(uint64_t nanoseconds) {
    struct timespec rest = {(time_t)(nanoseconds / 1000000000u), (long)(nanoseconds % 1000000000u)};
    // Who asked for ever waits for ever: what a hung driver does.
    while (nanosleep(&rest, &rest)) {}
    return VK_TIMEOUT;
}

static VKAPI_ATTR VkResult VKAPI_CALL WaitSemaphores(VkDevice device, const VkSemaphoreWaitInfo *info,
                                                     uint64_t nanoseconds) {
    return in_vain(nanoseconds);
}

static VKAPI_ATTR VkResult VKAPI_CALL GetSemaphoreCounterValue(VkDevice device, VkSemaphore semaphore,
                                                               uint64_t *value) {
    *value = 0;
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL WaitForFences(VkDevice device, uint32_t count, const VkFence *fences,
                                                    VkBool32 all, uint64_t nanoseconds) {
    return in_vain(nanoseconds);
}

static VKAPI_ATTR VkResult VKAPI_CALL GetFenceStatus(VkDevice device, VkFence fence) {
    return VK_NOT_READY;
}

static VKAPI_ATTR VkResult VKAPI_CALL CreateInstance(const VkInstanceCreateInfo *info,
                                                     const VkAllocationCallbacks *allocator, VkInstance *out) {
    VkLayerInstanceCreateInfo *link = (VkLayerInstanceCreateInfo *)info->pNext;
    while (link && !(link->sType == VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO &&
                     link->function == VK_LAYER_LINK_INFO))
        link = (void *)link->pNext;
    if (!link) return VK_ERROR_INITIALIZATION_FAILED;
    next_of_instance = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
    link->u.pLayerInfo = link->u.pLayerInfo->pNext;
    return ((PFN_vkCreateInstance)next_of_instance(0, "vkCreateInstance"))(info, allocator, out);
}

static VkInstance last_instance;

static VKAPI_ATTR VkResult VKAPI_CALL CreateDevice(VkPhysicalDevice physical, const VkDeviceCreateInfo *info,
                                                   const VkAllocationCallbacks *allocator, VkDevice *out) {
    VkLayerDeviceCreateInfo *link = (VkLayerDeviceCreateInfo *)info->pNext;
    while (link && !(link->sType == VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO &&
                     link->function == VK_LAYER_LINK_INFO))
        link = (void *)link->pNext;
    if (!link) return VK_ERROR_INITIALIZATION_FAILED;
    PFN_vkGetInstanceProcAddr of_instance = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
    next_of_device = link->u.pLayerInfo->pfnNextGetDeviceProcAddr;
    link->u.pLayerInfo = link->u.pLayerInfo->pNext;
    return ((PFN_vkCreateDevice)of_instance(last_instance, "vkCreateDevice"))(physical, info, allocator, out);
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL of_device(VkDevice device, const char *name);

static PFN_vkVoidFunction own(const char *name) {
#define OWN(function, called) \
    if (!strcmp(name, called)) return (PFN_vkVoidFunction)function
    OWN(CreateInstance, "vkCreateInstance");
    OWN(CreateDevice, "vkCreateDevice");
    OWN(of_device, "vkGetDeviceProcAddr");
    OWN(WaitSemaphores, "vkWaitSemaphores");
    OWN(WaitSemaphores, "vkWaitSemaphoresKHR");
    OWN(GetSemaphoreCounterValue, "vkGetSemaphoreCounterValue");
    OWN(GetSemaphoreCounterValue, "vkGetSemaphoreCounterValueKHR");
    OWN(WaitForFences, "vkWaitForFences");
    OWN(GetFenceStatus, "vkGetFenceStatus");
    return 0;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL of_device(VkDevice device, const char *name) {
    PFN_vkVoidFunction function = own(name);
    return function ? function : next_of_device(device, name);
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL of_instance(VkInstance instance, const char *name) {
    if (!strcmp(name, "vkGetInstanceProcAddr")) return (PFN_vkVoidFunction)of_instance;
    if (instance) last_instance = instance;
    PFN_vkVoidFunction function = own(name);
    return function ? function : instance ? next_of_instance(instance, name) : 0;
}

__attribute__((visibility("default"))) VKAPI_ATTR VkResult VKAPI_CALL never_negotiate(VkNegotiateLayerInterface *version) {
    version->loaderLayerInterfaceVersion = 2;
    version->pfnGetInstanceProcAddr = of_instance;
    version->pfnGetDeviceProcAddr = of_device;
    version->pfnGetPhysicalDeviceProcAddr = 0;
    return VK_SUCCESS;
}
