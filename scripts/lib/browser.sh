# The gpu tier in a browser without a window: a Chromium, whose WebGPU runs on SwiftShader. Sourced after setup.sh, before
# drivers.sh; scripts/page makes the page.
#
# shellcheck shell=sh

# How long one share of the table may take, in seconds.
browser_patience=1800

# Sets `browser`.
find_browser() {
    for name in chromium chromium-browser google-chrome; do
        if browser=$(command -v "$name"); then
            return
        fi
    done
    false
}

# browse PAGES N/M FILTER: the Nth of M parts of the table in this many pages, each in its own browser, because the pages
# of one browser share a GPU process. True if every share closed without a failure.
browse() {
    scripts/page || return
    scratch=$(mktemp -d)
    last=$(($1 * ${2%/*})) shares=$(($1 * ${2#*/}))
    for number in $(seq $((last - $1 + 1)) $last); do
        mkdir "$scratch/$number"
        browse_share "$number/$shares" "$3" "$scratch/$number" >"$scratch/$number.log" &
    done
    wait
    cat "$scratch"/*.log
    closed=$(cat "$scratch"/*.log | grep -c '^test result: ok' || :)
    rm -rf "$scratch"
    [ "$closed" -eq "$1" ]
}

# browse_share SHARE FILTER FOLDER: prints what the page reports, line by line.
browse_share() {
    visit "driver=chromium&share=$1&filter=$2" "$3"
}

# visit ASKED FOLDER: opens the page that scripts/page made with this behind its #, and prints what it reports, once it is
# at its end. The browser does not end by itself.
visit() {
    log=$2/log
    : >"$log"
    # Chromium has no sandbox for root, as in a container.
    sandbox=
    [ "$(id -u)" -ne 0 ] || sandbox=--no-sandbox
    # What lies beside the page is read by it: a model.
    "$browser" --headless $sandbox --user-data-dir="$2/profile" --disable-gpu-watchdog --enable-logging=stderr \
        --allow-file-access-from-files \
        --enable-unsafe-webgpu --use-webgpu-adapter=swiftshader --enable-features=Vulkan \
        "file://$PWD/target/gpu.html#$1" >"$log" 2>&1 &
    waited=0
    until grep -q 'CONSOLE.*"end"' "$log" || ! kill -0 $! 2>/dev/null || [ $waited -ge $browser_patience ]; do
        sleep 1
        waited=$((waited + 1))
    done
    kill $! 2>/dev/null || :
    wait $! || :
    console <"$log"
}

# Picks the page's own messages out of a browser's log. A message of several lines begins with its mark, and ends with
# the address of its page.
console() {
    sed -n '/^\[[^]]*CONSOLE[^]]*\] "/,/", source: [^"]*$/ { s/^\[[^]]*CONSOLE[^]]*\] "//; s/", source: [^"]*$//; p; }'
}
