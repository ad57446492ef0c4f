# What a machine needs before cargo can build wharf and wharf can find an adapter: cargo, the certificates by which it
# knows its registry, a linker, a Vulkan driver.
#
# Sourced, never run. Debian and Ubuntu are set up by apt-get; any other system is told what to install. Nothing is
# asked of a package manager unless something is missing.
#
# shellcheck shell=sh
# shellcheck disable=SC2086 # apt_flags is a list, meant to be split

# A shell that was open when Rust was installed lacks cargo's folder, and an ordinary user's shell lacks ldconfig's.
PATH=$PATH:${CARGO_HOME:-${HOME:-}/.cargo}/bin:/usr/sbin:/sbin

say() {
    printf '== %s\n' "$*"
}

die() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit 1
}

# not_here WHY: as `die`, where nothing is wrong but that something cannot be had here.
not_here() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit 3
}

# timed WHAT COMMAND...: runs the command and says how long it took.
timed() {
    timed_what=$1
    timed_since=$(date +%s)
    shift
    say "$timed_what"
    "$@" || return
    say "$timed_what: $(($(date +%s) - timed_since)) s"
}

# Sets up everything, in the order in which a lack of it would be noticed.
set_up_machine() {
    need_toolchain
    need_vulkan
}

need_toolchain() {
    need_cargo
    need_certificates
    need_linker
}

# wharf refuses software adapters unless told otherwise, so that a slow answer does not pass for the GPU's.
allow_software() {
    export WHARF_ALLOW_SOFTWARE=1
    say 'a software adapter is allowed here (WHARF_ALLOW_SOFTWARE=1)'
    # Where this is not set, a layer of Mesa's for Vulkan asks for a Wayland display anyhow, and complains on stderr.
    [ -n "${XDG_RUNTIME_DIR:-}" ] || export NODEVICE_SELECT=1
}

need_cargo() {
    command -v cargo >/dev/null || die 'cargo not found: install Rust with rustup'
    cargo_minor=$(cargo --version | sed -n 's/^cargo 1\.\([0-9]*\).*/\1/p')
    wanted_minor=$(sed -n 's/^rust-version = "1\.\([0-9]*\).*/\1/p' Cargo.toml)
    # If the version cannot be read, assume that the toolchain is new enough: cargo checks again.
    if [ "${cargo_minor:-9999}" -lt "${wanted_minor:-0}" ]; then
        die "$(cargo --version) is older than Rust 1.$wanted_minor: install a newer one with rustup" \
            "(a distribution's own cargo is often too old)"
    fi
}

# The target that browsers run.
wasm=wasm32-unknown-unknown

need_wasm() {
    rustup target add "$wasm" >/dev/null 2>&1 || die "the target of browsers is missing: rustup target add $wasm"
}

# Debian in a container has none. Other systems always have them, in other places.
need_certificates() {
    if has_apt && [ ! -e /etc/ssl/certs/ca-certificates.crt ]; then
        install_packages 'the list of certificate authorities' ca-certificates
    fi
}

# rustc links with the system's C compiler, even for a crate without any C.
need_linker() {
    case $(uname -s) in
    Darwin) command -v cc >/dev/null || die 'no linker (cc): run xcode-select --install' ;;
    MINGW* | MSYS* | CYGWIN*) ;; # rustup provides the linker on Windows
    *) command -v cc >/dev/null || install_packages 'a linker (cc)' gcc libc6-dev ;;
    esac
}

# need_python [MODULE]: Debian has each module of its own in a package.
need_python() {
    python3 ${1:+-m "$1"} --version >/dev/null 2>&1 || install_packages 'Python' python3 ${1:+"python3-$1"}
}

need_vulkan() {
    case $(uname -s) in
    Darwin) say 'macOS: Metal is part of the system, nothing to install' ;;
    MINGW* | MSYS* | CYGWIN*) say 'Windows: Direct3D 12 is part of the system, nothing to install' ;;
    *)
        if ! vulkan_found; then
            install_packages 'a Vulkan driver' libvulkan1 mesa-vulkan-drivers
            vulkan_found || die 'still no Vulkan driver, although its packages are installed'
        fi
        say "Vulkan drivers: $(vulkan_drivers)"
        ;;
    esac
}

vulkan_found() {
    library_found libvulkan.so.1 && [ -n "$(vulkan_drivers)" ]
}

# The names of the drivers that the Vulkan loader can open, on one line.
vulkan_drivers() {
    vulkan_manifests | while read -r manifest; do
        if manifest_works "$manifest"; then
            printf '%s ' "$(basename "$manifest" .json)"
        fi
    done
}

# The manifests that the Vulkan loader reads on Linux.
vulkan_manifests() {
    if [ -n "${VK_DRIVER_FILES:-${VK_ICD_FILENAMES:-}}" ]; then
        printf '%s\n' "${VK_DRIVER_FILES:-$VK_ICD_FILENAMES}" | tr ':' '\n'
        return
    fi
    for folder in "${HOME:-}/.config" "${HOME:-}/.local/share" /usr/local/etc /etc /usr/local/share /usr/share; do
        find "$folder/vulkan/icd.d/" -name '*.json' 2>/dev/null || :
    done
}

# A manifest may outlive its driver, so it counts only if the library that it names is there.
manifest_works() {
    named=$(sed -n 's/.*"library_path"[^"]*"\([^"]*\)".*/\1/p' "$1" 2>/dev/null)
    case $named in
    '') return 1 ;;
    /*) [ -e "$named" ] ;;
    */*) [ -e "$(dirname "$1")/$named" ] ;; # relative to the manifest
    *) library_found "$named" ;;            # searched for like any other library
    esac
}

library_found() {
    ldconfig -p 2>/dev/null | grep -q -F "	$1 "
}

# install_packages WHY PACKAGE...: installs by apt-get; without it, says what would do the same, and stops.
install_packages() {
    why=$1
    shift
    has_apt || die "$why is missing. $(advice "$why")"
    can_be_root || die "$why is missing, and this is neither root nor has it sudo. As root, run: apt-get install $*"
    apt_refresh
    timed "$why is missing: installing $*" \
        quietly as_root env DEBIAN_FRONTEND=noninteractive apt-get $apt_flags install -y --no-install-recommends "$@"
}

has_apt() {
    command -v apt-get >/dev/null
}

# A machine that has just started is often still upgrading itself and holds the lock: wait for it.
apt_flags='-qq -o DPkg::Lock::Timeout=300'
apt_fresh=

# Once per run, and only when something has to be fetched. A broken source is ignored: the package may come from another
# one, and if not, its own installation fails and names it.
apt_refresh() {
    [ -z "$apt_fresh" ] || return 0
    timed 'reading the package lists anew' \
        quietly as_root apt-get $apt_flags update || say 'that failed in part: going on with what there is'
    apt_fresh=yes
}

can_be_root() {
    [ "$(id -u)" -eq 0 ] || command -v sudo >/dev/null
}

# With CI set there is nobody to type a password.
as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    else
        sudo ${CI:+-n} "$@"
    fi
}

# quietly COMMAND...: prints its output only if it fails. (sudo asks for its password on the terminal.)
quietly() {
    if ! chatter=$("$@" 2>&1 </dev/null); then
        printf '%s\n' "$chatter" | sed 's/^/   /'
        return 1
    fi
}

# advice WHY: prints the command to install it, which differs between systems.
advice() {
    case "$1 on $(system)" in
    *linker*fedora* | *linker*rhel*) echo 'Run: sudo dnf install gcc' ;;
    *linker*arch*) echo 'Run: sudo pacman -S gcc' ;;
    *linker*suse*) echo 'Run: sudo zypper install gcc' ;;
    *linker*alpine*) echo 'Run: sudo apk add gcc musl-dev' ;;
    *linker*) echo 'Install a C compiler that answers to cc.' ;;
    *Python*) echo 'Install Python 3 with pip.' ;;
    *fedora* | *rhel*) echo 'Run: sudo dnf install vulkan-loader mesa-vulkan-drivers' ;;
    *arch*) echo 'Run: sudo pacman -S vulkan-icd-loader vulkan-swrast' ;;
    *suse*) echo 'Run: sudo zypper install libvulkan1 libvulkan_lvp' ;;
    *alpine*) echo 'Run: sudo apk add vulkan-loader mesa-vulkan-swrast' ;;
    *) echo "Install the Vulkan loader (libvulkan.so.1) and a driver, for instance Mesa's lavapipe." ;;
    esac
}

# This system and those it says it is like: "ubuntu debian", "rocky rhel centos fedora", "arch".
system() (
    ID=unknown ID_LIKE=
    if [ -r /etc/os-release ]; then
        . /etc/os-release
    fi
    echo "$ID $ID_LIKE"
)
