import { existsSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { addon } from "../native.ts";
import { installedVersion } from "../support/optional-packages.ts";
import { isSupported } from "../support/package-versions.ts";

const require = createRequire(import.meta.url);

/**
 * Finds ONNX Runtime libraries, in order of preference: that of an installed `onnxruntime-node` (which supports GPUs), that of guard's
 * platform package, and that of the system. On Alpine only the last one is possible, because the others need glibc.
 */
export function findRuntimeLibraries(
  platform: NodeJS.Platform = process.platform,
  arch: string = process.arch,
): string[] {
  const musl = platform === "linux" && addon.isMusl();
  // A project may need an older version for itself. The addon cannot use that one, and loads the library of guard's own package.
  const installed = installedVersion("onnxruntime-node");
  const isUsable = installed === undefined || isSupported("onnxruntime-node", installed);
  const inPackages = musl
    ? []
    : [
        isUsable ? packageFolder("onnxruntime-node", `bin/napi-v6/${platform}/${arch}`) : undefined,
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
