import { existsSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { addon } from "../native.ts";

const require = createRequire(import.meta.url);

/**
 * Where the ONNX Runtime library may be, best first: that of an installed `onnxruntime-node` (the way to GPUs), of
 * guard's own platform package, of the system. Alpine has one of its own, because the others are made for glibc.
 */
export function runtimeLibraries(platform: NodeJS.Platform = process.platform, arch: string = process.arch): string[] {
  const musl = platform === "linux" && addon.isMusl();
  const inPackages = musl
    ? []
    : [
        packageFolder("onnxruntime-node", `bin/napi-v6/${platform}/${arch}`),
        packageFolder(`guard-scan-${platform}-${arch}${{ linux: "-gnu", win32: "-msvc" }[platform as string] ?? ""}`),
      ];
  const inSystem = platform === "linux" ? ["/usr/lib", "/usr/local/lib"] : [];
  return [...inPackages, ...inSystem].flatMap((folder) => (folder ? librariesIn(folder) : []));
}

function librariesIn(folder: string): string[] {
  const pattern = /^(libonnxruntime\.so(\.\d+)*|libonnxruntime(\.\d+)*\.dylib|onnxruntime\.dll)$/;
  return existsSync(folder)
    ? readdirSync(folder)
        .filter((name) => pattern.test(name))
        .sort()
        .map((name) => join(folder, name))
    : [];
}

function packageFolder(name: string, below = ""): string | undefined {
  try {
    return join(dirname(require.resolve(`${name}/package.json`)), below);
  } catch {
    return undefined;
  }
}
