# Pretended GPUs: a shim pretends the kernel's device, submissions do nothing, and the real driver on top compiles to the
# real machine code of a chip. What a program reads back is zeros. Sourced after setup.sh, drivers.sh
# and layers.sh.
#
# The chip's drivers are the release's backports, unpacked beside the system's own. The shims, and the drivers that Debian
# does not build, are taken from WHARF_NULL_GPUS or ../shared/null-gpus where they lie there built, and otherwise built
# from the source of the same release of Mesa.
#
# shellcheck shell=sh
# shellcheck disable=SC2086 # lists of flags are meant to be split
# shellcheck disable=SC2034,SC2154 # drivers.sh reads what is to be fetched, and says what lacks

# A chip is called by its kind and its model: intel:dg2. Mali compiles too, but its fences never signal.
null_table='
kind    driver     shim       variable                    models
intel   intel      intel      INTEL_STUB_GPU_PLATFORM     skl,tgl,dg2,mtl,lnl,bmg
amd     radeon     amdgpu     AMDGPU_GPU_ID               navi31,gfx1150,navi21,navi10,vega10,renoir,polaris10
nvidia  nouveau    nouveau    NOUVEAU_CHIPSET             162,172
adreno  freedreno  freedreno  FD_GPU_ID                   618,630,660,730,740,750
'
null_mesa=25.0.7
null_folder=$PWD/target/null-gpus
mesa_source=$null_folder/mesa-$null_mesa
null_built=${WHARF_NULL_GPUS:-$PWD/../shared/null-gpus}/prebuilt.tar.xz

null_chips() {
    printf '%s' "$null_table" | awk 'NR > 2 {
        n = split($5, models, ",")
        for (i = 1; i <= n; i++) print $1 ":" models[i]
    }'
}

# set_up_null_gpu CHIP: what is missing for it, once.
set_up_null_gpu() {
    read_null_gpu "$1"
    mkdir -p "$null_folder"
    need_null_drivers
    need_null_shims
    [ -e "$null_folder/shims/lib${null_shim}_noop_drm_shim.so" ] || die "no shim pretends $null_kind"
    null_library=$null_folder/drivers/libvulkan_$null_driver.so
    [ -e "$null_library" ] || build_null_driver
    need_null_layers
    null_manifest=$null_folder/$null_driver.json
    # The loader reads it several times, and another program may be at it: it is never half there.
    printf '{ "file_format_version": "1.0.0", "ICD": { "api_version": "1.3.0", "library_path": "%s" } }\n' \
        "$null_library" >"$null_manifest.$$"
    mv "$null_manifest.$$" "$null_manifest"
}

# read_null_gpu CHIP: its row, as variables.
read_null_gpu() {
    null_chips | grep -q -x -F -e "$1" || die "no such chip: $1. There are: $(null_chips | tr '\n' ' ')"
    null_kind=${1%%:*}
    null_model=${1#*:}
    read -r _ null_driver null_shim null_variable _ <<ROW
$(printf '%s' "$null_table" | grep "^$null_kind ")
ROW
}

# The backports' drivers of Intel and AMD, and the libdrm that they want, as a flat folder.
need_null_drivers() {
    [ ! -e "$null_folder/drivers/libvulkan_radeon.so" ] || return 0
    has_apt || not_here "the drivers are lifted out of Debian's packages, and there is no apt-get here"
    say 'null-gpus: fetching the drivers'
    driver=null-gpus
    driver_folder=$null_folder/new
    packages='libdrm2 libdrm-amdgpu1 libdrm-intel1 libdrm-nouveau2 libdrm-radeon1 mesa-vulkan-drivers'
    rm -rf "$driver_folder"
    mkdir -p "$driver_folder/debs" "$drivers_folder"
    download_from_backports || not_here "null-gpus: $lack"
    for deb in "$driver_folder"/debs/*.deb; do
        dpkg-deb --fsys-tarfile "$deb"
    done | tar -x -i -C "$driver_folder" --transform 's,.*/,,' --wildcards \
        '*/libdrm*.so.*' '*/libvulkan_intel.so' '*/libvulkan_radeon.so'
    rm -rf "$driver_folder/debs"
    mv "$driver_folder" "$null_folder/drivers"
}

need_null_shims() {
    [ ! -d "$null_folder/shims" ] || return 0
    if [ -e "$null_built" ]; then
        say "null-gpus: the shims of $null_built"
        tar -x -J -C "$null_folder/drivers" --strip-components=2 -f "$null_built" prebuilt/drivers
        unpacked=$null_folder/unpacked
        mkdir -p "$unpacked"
        tar -x -J -C "$unpacked" --strip-components=2 -f "$null_built" prebuilt/lib
    else
        build_null intel/tools/libintel_noop_drm_shim.so amd/drm-shim/libamdgpu_noop_drm_shim.so \
            freedreno/drm-shim/libfreedreno_noop_drm_shim.so
        unpacked=$null_folder/unpacked
        mkdir -p "$unpacked"
        find "$mesa_build/src" -name 'lib*_noop_drm_shim.so' -exec cp {} "$unpacked" ';'
    fi
    mv "$unpacked" "$null_folder/shims"
}

# A driver that Debian does not build: minutes.
build_null_driver() {
    case $null_driver in
    nouveau)
        need_binders
        build_null nouveau/drm-shim/libnouveau_noop_drm_shim.so nouveau/vulkan/libvulkan_nouveau.so
        cp "$mesa_build/src/nouveau/drm-shim/libnouveau_noop_drm_shim.so" "$null_folder/shims"
        ;;
    *) build_null "$null_driver/vulkan/libvulkan_$null_driver.so" ;;
    esac
    cp "$mesa_build/src/$null_driver/vulkan/libvulkan_$null_driver.so" "$null_library"
}

# build_null TARGET...: targets below Mesa's src, without LLVM: none of these drivers needs it. The part of the build that
# wants Rust is configured only where it is asked for.
build_null() {
    need_mesa_source
    case $* in
    *nouveau*) mesa_drivers=amd,freedreno,nouveau mesa_build=$null_folder/build-nouveau ;;
    *) mesa_drivers=amd,freedreno mesa_build=$null_folder/build ;;
    esac
    mesa_off='llvm opengl glx egl gbm gles1 gles2 glvnd intel-rt valgrind libunwind xmlconfig lmsensors
        android-libbacktrace gallium-va gallium-vdpau'
    flags=
    for name in $mesa_off; do
        case $name in
        opengl) flags="$flags -Dopengl=false" ;;
        *) flags="$flags -D$name=disabled" ;;
        esac
    done
    # libdrm of the backports, unpacked beside the system's own.
    PKG_CONFIG_PATH=$null_folder/libdrm/usr/lib/$(uname -m)-linux-gnu/pkgconfig
    export PKG_CONFIG_PATH PATH="$null_folder/venv/bin:$null_folder/cargo/bin:$PATH"
    [ -e "$mesa_build/build.ninja" ] || timed 'null-gpus: configuring Mesa' quietly meson setup "$mesa_build" \
        "$mesa_source" --buildtype=release -Doptimization=1 -Db_ndebug=true -Dplatforms= \
        -Dgallium-drivers= -Dvulkan-drivers=$mesa_drivers -Dtools=drm-shim,intel -Dfreedreno-kmds=msm -Dvideo-codecs= \
        -Dbuild-tests=false $flags
    for target in "$@"; do
        timed "null-gpus: building $target" quietly ninja -C "$mesa_build" "src/$target"
    done
}

need_mesa_source() {
    [ ! -d "$mesa_source" ] || return 0
    install_here "what builds Mesa's shims" ninja-build pkg-config flex bison glslang-tools libelf-dev zlib1g-dev \
        libzstd-dev libexpat1-dev libudev-dev liblua5.3-dev libarchive-dev libconfig-dev gcc g++ xz-utils python3-venv
    driver=null-gpus
    driver_folder=$null_folder/source
    packages='libdrm-dev libdrm2 libdrm-amdgpu1 libdrm-intel1 libdrm-nouveau2 libdrm-radeon1'
    rm -rf "$driver_folder"
    mkdir -p "$driver_folder/debs" "$drivers_folder"
    download_from_backports || not_here "null-gpus: $lack"
    for deb in "$driver_folder"/debs/*.deb; do
        dpkg-deb -x "$deb" "$null_folder/libdrm"
    done
    sed -i "s,^prefix=.*,prefix=$null_folder/libdrm/usr," "$null_folder"/libdrm/usr/lib/*/pkgconfig/*.pc
    sed 's/^deb /deb-src /' "$drivers_folder/apt/sources.list" >"$driver_folder/sources.list"
    set -- -qq -o Dir::Etc::SourceList="$driver_folder/sources.list" -o Dir::Etc::SourceParts=/dev/null \
        -o Dir::State::Lists="$drivers_folder/apt/lists" -o Dir::Cache="$drivers_folder/apt/cache" -o Debug::NoLocking=true
    quietly apt-get "$@" update || not_here "no sources on this system's mirror"
    # A release's description of its source leaves the pool before the tarball does: then the command fails, and leaves
    # what is needed.
    (cd "$driver_folder" && apt-get "$@" source --download-only "mesa=$null_mesa-2~bpo12+1" 2>/dev/null) || :
    python3 -m venv "$null_folder/venv"
    quietly "$null_folder/venv/bin/pip" install meson==1.7.2 mako pyyaml packaging ply setuptools ||
        not_here 'pip cannot fetch meson'
    # At last: where its folder is, all of this is.
    tar -x -C "$null_folder" -f "$driver_folder/mesa_$null_mesa.orig.tar.xz" || not_here "no source of Mesa $null_mesa here"
}

# What writes NVK's bindings, and the crates that meson cannot fetch everywhere, from cargo's cache.
need_binders() {
    need_mesa_source
    [ -x "$null_folder/cargo/bin/cbindgen" ] || timed 'null-gpus: building bindgen and cbindgen' \
        quietly cargo install --root "$null_folder/cargo" --locked bindgen-cli@0.69.5 cbindgen@0.27.0
    kept=$mesa_source/subprojects/packagecache
    lone=$null_folder/crate
    mkdir -p "$kept" "$lone/src"
    : >"$lone/src/lib.rs"
    # One manifest for each: the versions that Mesa names contradict one another.
    for name in paste syn proc-macro2 quote unicode-ident; do
        wrap=$mesa_source/subprojects/$name.wrap
        version=$(sed -n "s/^directory = $name-//p" "$wrap")
        printf '[package]\nname = "crate"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\n%s = "=%s"\n' \
            "$name" "$version" >"$lone/Cargo.toml"
        rm -f "$lone/Cargo.lock"
        quietly cargo fetch --manifest-path "$lone/Cargo.toml"
        find "${CARGO_HOME:-$HOME/.cargo}/registry/cache" -name "$name-$version.crate" \
            -exec cp {} "$kept/$(sed -n 's/^source_filename = //p' "$wrap")" ';'
    done
}

# The layers, each of C in a second: one takes the driver's own statistics from any program, under the other nothing
# that was submitted is ever done.
need_null_layers() {
    null_layer=$null_folder/layer
    need_layer "$null_layer" pipestats 'statistics of every compute pipeline'
    need_layer "$null_layer" never 'work that is never done'
}

# on_null_gpu PROGRAM ARGUMENT...: runs it where the chip last set up is the only adapter. With PIPESTATS=FILE its
# pipelines' statistics go there, and with PIPESTATS_IR=FOLDER their assembly. With NEVER_DONE=1 no work is ever done.
on_null_gpu() {
    case $null_kind in
    nvidia) vow=NVK_I_WANT_A_BROKEN_VULKAN_DRIVER=1 ;; # the driver's own words for a chip that is not there
    *) vow= ;;
    esac
    set -- "$null_variable=$null_model" $vow LD_PRELOAD="$null_folder/shims/lib${null_shim}_noop_drm_shim.so" "$@"
    layers=
    [ -z "${PIPESTATS:-}" ] || layers=VK_LAYER_WHARF_pipestats
    [ -z "${NEVER_DONE:-}" ] || layers=${layers:+$layers:}VK_LAYER_WHARF_never
    [ -z "$layers" ] || set -- VK_LAYER_PATH="$null_layer" VK_INSTANCE_LAYERS="$layers" "$@"
    env -u WHARF_ADAPTER -u WGPU_ADAPTER_NAME -u DISPLAY -u WAYLAND_DISPLAY WGPU_BACKEND=vulkan \
        VK_DRIVER_FILES="$null_manifest" VK_ICD_FILENAMES="$null_manifest" MESA_SHADER_CACHE_DISABLE=true \
        LD_LIBRARY_PATH="$null_folder/drivers${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" \
        XDG_RUNTIME_DIR="${XDG_RUNTIME_DIR:-$null_folder}" "$@"
}
