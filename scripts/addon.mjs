import { execFileSync } from "node:child_process";
import { homedir } from "node:os";
import { join, resolve } from "node:path";

/**
 * Compiles the addon of a checkout into its folder `native`.
 *
 * Release builds are reproducible. Panic messages contain the paths of source files, so the folders of the checkout and of cargo are replaced
 * (https://doc.rust-lang.org/rustc/remap-source-paths.html).
 *
 * @param folder the checkout, with its `node_modules`.
 * @param profile the cargo profile: `release`, or `ci` for tests.
 */
export function buildAddon(folder, profile) {
  const napi = ["build", "--platform", "--profile", profile, "--manifest-path", "crates/guard-node/Cargo.toml"];
  const paths = ["--output-dir", "native", "--js", "index.cjs", "--dts", "index.d.cts", "--target-dir", "target"];
  const env = { ...process.env };
  if (profile === "release") {
    const cargo = env.CARGO_HOME ?? join(homedir(), ".cargo");
    const flags = [`--remap-path-prefix=${resolve(folder)}=/guard`, `--remap-path-prefix=${cargo}=/cargo`];
    // Cargo reads this variable instead of RUSTFLAGS. Paths in it may contain spaces.
    env.CARGO_ENCODED_RUSTFLAGS = [...(env.RUSTFLAGS?.split(" ").filter(Boolean) ?? []), ...flags].join("\x1f");
    env.CARGO_INCREMENTAL = "0";
  }
  const program = join(folder, "node_modules/@napi-rs/cli/dist/cli.js");
  // Standard output is left to the caller.
  execFileSync(process.execPath, [program, ...napi, ...paths], { cwd: folder, env, stdio: ["ignore", 2, 2] });
}
