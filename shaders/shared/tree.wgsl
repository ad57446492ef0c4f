// A tree in workgroup memory: what the lanes of a group hold becomes one, and each of them gets it.

// Every lane comes here, as often as it is called.
fn together(lane: u32, own: State) -> State {
    workgroupBarrier();
    sh_state[lane] = own;
    for (var reach = lanes / 2u; reach > 0u; reach /= 2u) {
        workgroupBarrier();
        if lane < reach {
            sh_state[lane] = merge(sh_state[lane], sh_state[lane + reach]);
        }
    }
    workgroupBarrier();
    return sh_state[0];
}

// region alone
override lanes: u32 = 256u;
alias State = vec4<f32>;
var<workgroup> sh_state: array<State, lanes>;
fn merge(a: State, b: State) -> State { return a + b; }
// end alone
