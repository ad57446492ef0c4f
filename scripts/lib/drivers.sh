# The driver matrix: every driver that a Linux machine can have without a GPU, a browser's own included; how each is
# installed; and the environment in which wgpu sees only that one. Sourced after setup.sh; and after browser.sh by whoever
# has the browser set up too.
#
# shellcheck shell=sh
# shellcheck disable=SC2086,SC2046 # lists of packages, folders and patterns are meant to be split
# shellcheck disable=SC2034 # whoever sources this prints what a driver lacks
#
# from system      installed by the system's package manager
#      release     lifted out of a package that would install far more than the one library wanted
#      backports   lifted out of the release's backports, so that it stays beside the system's own, older one
#      testing     lifted out of the next release with all that it depends on, the C library included: programs are run
#                  with those (`on_driver`), and nothing else is
#
# A driver that is lifted out is kept in target/drivers/NAME, a flat folder of its manifest and its libraries, which
# makes the second run fast. What this saves: docs/measured/drivers.md.
drivers_table='
name             backend  manifest                 from       packages                        files
lavapipe         vulkan   lvp_icd*.json            system     libvulkan1,mesa-vulkan-drivers  -
swiftshader      vulkan   vk_swiftshader_icd.json  release    chromium-common                 libvk_swiftshader.so
llvmpipe-gl      gl       -                        system     libegl1,libgl1-mesa-dri         -
lavapipe-new     vulkan   lvp_icd*.json            backports  mesa-vulkan-drivers,libdrm2     libvulkan_lvp.so,libdrm.so.*
lavapipe-newest  vulkan   lvp_icd*.json            testing    mesa-vulkan-drivers,patchelf    libvulkan_lvp.so,lib/*.so.*,bin/patchelf
chromium         browser  -                        system     chromium                        -
'

drivers_folder=$PWD/target/drivers
# What runs programs on the driver whose environment was entered, where they need other libraries than their own.
runner=

# Where a manifest may already lie on the system: Mesa's packages, then browsers that come with SwiftShader.
manifest_folders='/usr/share/vulkan/icd.d /etc/vulkan/icd.d /usr/local/share/vulkan/icd.d
/usr/lib/chromium /usr/lib64/chromium-browser /opt/google/chrome'

driver_names() {
    printf '%s' "$drivers_table" | awk 'NR > 2 { print $1 }'
}

# Those on which a program can run: a browser runs a page.
native_driver_names() {
    printf '%s' "$drivers_table" | awk 'NR > 2 && $2 != "browser" { print $1 }'
}

# read_driver NAME: its row, as variables.
read_driver() {
    driver=$1
    read -r _ backend manifest_name from packages files <<ROW
$(printf '%s' "$drivers_table" | grep "^$driver ")
ROW
    driver_folder=$drivers_folder/$driver
    packages=$(echo "$packages" | tr ',' ' ')
}

# set_up_driver NAME: prepares the driver for driver_environment. If that fails it is false, and `lack` says why.
set_up_driver() {
    read_driver "$1"
    lack=
    driver_ready && return 0
    case $from in
    system) set_up_from_system ;;
    *) set_up_from_packages ;;
    esac || return 1
    driver_ready || lacks "its files are not where they should be after unpacking: $packages"
}

lacks() {
    lack=$*
    return 1
}

driver_ready() {
    case $backend in
    browser) find_browser ;;
    gl) library_found libEGL_mesa.so.0 && library_found libEGL.so.1 && installed $packages ;;
    *) find_manifest && manifest_works "$manifest" ;;
    esac
}

# Sets `manifest`. What was lifted out comes first: those of other releases have the same name as the system's, which must
# not be taken for it.
find_manifest() {
    manifest=
    [ "$from" = system ] || manifest=$(first_manifest "$driver_folder")
    case $from in
    system | release) [ -n "$manifest" ] || manifest=$(first_manifest $manifest_folders) ;;
    esac
    [ -n "$manifest" ]
}

# Skips 32-bit manifests, which may lie beside the one that is wanted.
first_manifest() {
    find "$@" -maxdepth 1 -name "$manifest_name" ! -name '*.i?86.json' 2>/dev/null | head -n 1
}

# installed PACKAGE...: true without dpkg as well: the libraries were found before.
installed() {
    command -v dpkg-query >/dev/null || return 0
    for package in "$@"; do
        dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null | grep -q '^installed$' || return 1
    done
}

set_up_from_system() {
    has_apt || lacks "install what other systems call $packages" || return 1
    # In a subshell: a package that cannot be installed is this driver's failure, not the end of the run.
    (install_packages "$driver" $packages) || lacks "apt-get could not install $packages"
}

set_up_from_packages() {
    has_apt || lacks "it is lifted out of Debian's package ${packages%% *}, and there is no apt-get here" || return 1
    say "$driver: fetching $packages"
    rm -rf "$driver_folder"
    mkdir -p "$driver_folder/debs"
    "download_from_$from" && lift_out && whole
    lifted=$?
    rm -rf "$driver_folder/debs"
    [ $lifted -eq 0 ] || rm -rf "$driver_folder" # half a driver must not pass for one the next time
    return $lifted
}

download_from_release() {
    download || { apt_refresh && download; } || lacks "apt-get has no package $packages here$(ubuntu_note)"
}

ubuntu_note() {
    case $(system) in
    *ubuntu*) printf '%s' " (Ubuntu's Chromium is a snap and brings no SwiftShader; Google Chrome does)" ;;
    esac
}

download_from_backports() {
    suite=$(release_name)-backports
    read_lists "$(release_name)" "$suite" || return 1
    (cd "$driver_folder/debs" && apt_apart -t "$suite" download $packages) ||
        lacks "no $packages in $suite" || return 1
    newer_than_installed "${packages%% *}" || lacks "$suite has no newer ${packages%% *} than the system"
}

download_from_testing() {
    download_whole testing
}

# download_whole SUITE: as if nothing were installed here, with all that the packages depend on.
download_whole() {
    read_lists "$1" || return 1
    mkdir -p "$driver_folder/debs/partial"
    : >"$apt/status"
    apt_apart -o Dir::State::Status="$apt/status" -o Dir::Cache::Archives="$driver_folder/debs" \
        --no-install-recommends --yes --download-only install $packages || lacks "$1 has not all of $packages"
}

# apt-get with its own state: no suite is added to the system's sources, and root is not needed.
apt_apart() {
    quietly apt-get -o Dir::Etc::SourceList="$apt/sources.list" -o Dir::Etc::SourceParts=/dev/null \
        -o Dir::State::Lists="$apt/lists" -o Dir::Cache="$apt/cache" -o Debug::NoLocking=true \
        -o APT::Sandbox::User=root "$@"
}

# read_lists SUITE...: for apt_apart.
read_lists() {
    apt=$drivers_folder/apt
    mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
    sources_of "$@" >"$apt/sources.list"
    [ -s "$apt/sources.list" ] || lacks 'apt-get names no mirror of this release' || return 1
    apt_apart update || lacks "this system's mirror has not all of $*"
}

# sources_of SUITE...: the mirror and the keys are the system's own.
sources_of() {
    release=$(release_name)
    # Some sources name the release by its codename, others as "stable"; the downloaded lists give both.
    # shellcheck disable=SC2016 # apt-get expands these
    mirror=$(apt-get indextargets --no-release-info --format '$(RELEASE) $(CODENAME) $(COMPONENT) $(REPO_URI)' \
        'Created-By: Packages' | awk -v name="$release" '($1 == name || $2 == name) && $3 == "main" { print $4; exit }')
    keyring=/usr/share/keyrings/$(system | cut -d ' ' -f 1)-archive-keyring.gpg
    options=
    if [ -e "$keyring" ]; then
        options="[signed-by=$keyring] "
    fi
    [ -n "$mirror" ] || return 0
    for suite in "$@"; do
        echo "deb $options$mirror $suite main"
    done
}

release_name() (
    VERSION_CODENAME=
    . /etc/os-release
    echo "$VERSION_CODENAME"
)

newer_than_installed() {
    theirs=$(dpkg-deb -f "$driver_folder/debs/$1"_*.deb Version)
    ours=$(dpkg-query -W -f '${Version}' "$1" 2>/dev/null) || ours=0
    dpkg --compare-versions "$theirs" gt "$ours"
}

# The packages of this driver, nothing of what they depend on, and nothing is installed.
download() (
    cd "$driver_folder/debs" || exit
    quietly apt-get -o APT::Sandbox::User=root download $packages
)

# Unpacks all packages as one stream of files (-i reads on past the end of each) without folders, and makes the manifest
# name the library beside it.
lift_out() {
    library=${files%%,*}
    for deb in "$driver_folder"/debs/*.deb; do
        dpkg-deb --fsys-tarfile "$deb"
    done | (
        set -f # the patterns are for tar, not for the shell
        tar -x -i -C "$driver_folder" --transform 's,.*/,,' --wildcards \
            $(echo "$manifest_name,$files" | tr ',' '\n' | sed 's,^,*/,')
    ) 2>"$drivers_folder/tar.log" || lacks "$packages: $(head -n 1 "$drivers_folder/tar.log")" || return 1
    find_manifest && sed -i "s,\(\"library_path\": *\)\"[^\"]*\",\1\"./$library\"," "$manifest" || return 1
    [ "$from" != testing ] || forget_folders
}

# Libraries that name folders of their own are not looked for in the program's.
forget_folders() {
    for file in "$driver_folder"/lib*.so*; do
        [ -L "$file" ] || with_its_libraries ./patchelf --remove-rpath "$file" 2>/dev/null || :
    done
}

with_its_libraries() (
    cd "$driver_folder" && ./ld-linux*.so.* --library-path . "$@"
)

# Checks that no library lacks another one: the loader would ignore such a driver silently.
whole() {
    missing=$(needs | sed -n 's/^[[:space:]]*\(.*\) => not found.*/\1/p; s/.*: \(version .*\) not found.*/\1/p' | head -n 1)
    [ -z "$missing" ] || lacks "$library needs what this system has not: $missing"
}

needs() {
    case $from in
    testing) with_its_libraries --list "./$library" ;;
    *) LC_ALL=C LD_LIBRARY_PATH=$driver_folder ldd "$driver_folder/$library" ;;
    esac
}

# Enters, in this shell, the environment in which the driver last set up is the only adapter.
driver_environment() {
    unset WHARF_ADAPTER WHARF_TEST_NO_GPU
    export WHARF_TEST_DRIVER="$driver" WGPU_BACKEND="$backend"
    case $backend in
    browser) return ;; # it brings its own
    gl)
        vulkan=/dev/null # no manifest: no Vulkan
        export LIBGL_ALWAYS_SOFTWARE=1
        # Otherwise a vendor's EGL is asked first, which does not know Mesa's variables.
        for mesa in /usr/share/glvnd/egl_vendor.d/*mesa.json; do
            export __EGL_VENDOR_LIBRARY_FILENAMES="$mesa"
        done
        ;;
    *)
        vulkan=$manifest
        case "$from $manifest" in
        testing*)
            runner="$PWD/scripts/lib/own_libraries run $driver_folder"
            export "$(runner_variable)=$runner"
            ;;
        *" $driver_folder"/*) export LD_LIBRARY_PATH="$driver_folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" ;;
        esac
        ;;
    esac
    # The second is the older name of the first, and the only one that the loader of Ubuntu 22.04 knows.
    export VK_DRIVER_FILES="$vulkan" VK_ICD_FILENAMES="$vulkan"
}

# By which cargo is told how programs are run.
runner_variable() {
    rustc -vV | sed -n 's/^host: /CARGO_TARGET_/p' | tr 'a-z-' 'A-Z_' | sed 's/$/_RUNNER/'
}

# on_driver PROGRAM ARG...: runs a program that cargo does not.
on_driver() {
    $runner "$@"
}

# fit_to_driver PROGRAM...: programs that start each other.
fit_to_driver() {
    [ -z "$runner" ] || scripts/lib/own_libraries fit "$driver_folder" "$@"
}
