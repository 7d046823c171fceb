// How the addon is compiled.
import { execFileSync } from "node:child_process";
import { homedir } from "node:os";
import { join, resolve } from "node:path";

/**
 * Compiles the addon of a checkout into its folder `native`.
 *
 * A release is the same file wherever it is built: panics name the files of sources, and these names begin with neither the folder of the
 * checkout nor that of cargo (https://doc.rust-lang.org/rustc/remap-source-paths.html).
 *
 * @param folder the checkout, with its `node_modules`.
 * @param profile of cargo: `release`, or `ci` for tests.
 */
export function buildAddon(folder, profile) {
  const napi = ["build", "--platform", "--profile", profile, "--manifest-path", "crates/guard-node/Cargo.toml"];
  const places = ["--output-dir", "native", "--js", "index.cjs", "--dts", "index.d.cts", "--target-dir", "target"];
  const env = { ...process.env };
  if (profile === "release") {
    const cargo = env.CARGO_HOME ?? join(homedir(), ".cargo");
    const flags = [`--remap-path-prefix=${resolve(folder)}=/guard`, `--remap-path-prefix=${cargo}=/cargo`];
    // Cargo heeds this variable in the place of RUSTFLAGS, and takes paths with spaces in it.
    env.CARGO_ENCODED_RUSTFLAGS = [...(env.RUSTFLAGS?.split(" ").filter(Boolean) ?? []), ...flags].join("\x1f");
    env.CARGO_INCREMENTAL = "0";
  }
  const program = join(folder, "node_modules/@napi-rs/cli/dist/cli.js");
  // Standard output belongs to whoever builds.
  execFileSync(process.execPath, [program, ...napi, ...places], { cwd: folder, env, stdio: ["ignore", 2, 2] });
}
