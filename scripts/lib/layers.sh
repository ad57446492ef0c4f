# Layers between a program and a Vulkan driver, each of C in a second. Sourced after setup.sh and drivers.sh.
#
# shellcheck shell=sh
# shellcheck disable=SC2154 # drivers.sh sets what lacks

# install_here WHY PACKAGE...: in a subshell, which ends where they cannot be had.
install_here() {
    (install_packages "$@") || not_here "apt-get has not all of $1"
}

# need_layer FOLDER NAME DESCRIPTION: scripts/lib/NAME.c, built into the folder where it is new. The loader is given the
# folder as VK_LAYER_PATH, and VK_LAYER_WHARF_NAME in VK_INSTANCE_LAYERS.
need_layer() {
    [ -z "$(find "$1/lib$2.so" -newer "scripts/lib/$2.c" 2>/dev/null)" ] || return 0
    [ -e /usr/include/vulkan/vk_layer.h ] || install_here "the layer's headers" libvulkan-dev
    mkdir -p "$1"
    cc -O1 -fPIC -shared -fvisibility=hidden -Wall -o "$1/lib$2.so" "scripts/lib/$2.c" -lpthread
    cat >"$1/$2.json" <<MANIFEST
{
  "file_format_version": "1.1.2",
  "layer": {
    "name": "VK_LAYER_WHARF_$2", "type": "GLOBAL", "library_path": "./lib$2.so", "api_version": "1.3.239",
    "implementation_version": "1", "description": "$3",
    "functions": { "vkNegotiateLoaderLayerInterfaceVersion": "$2_negotiate" }
  }
}
MANIFEST
}
