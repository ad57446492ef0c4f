// Counts the command buffers that ran: each ends with this.

@group(0) @binding(0) var<storage, read_write> ran: u32;

@compute @workgroup_size(1)
fn count() {
    ran += 1u;
}
