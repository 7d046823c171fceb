//! Link arguments that Node.js addons need.

fn main() {
    napi_build::setup();
}
