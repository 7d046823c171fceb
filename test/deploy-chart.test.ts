import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { FastifyInstance } from "fastify";
import { load, loadAll } from "js-yaml";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadConfig } from "../src/config/index.ts";
import { createServer } from "../src/server/index.ts";

/*
 * These tests render the Helm chart with Helm itself, which a Python package contains, and check the objects with the schemas of
 * Kubernetes. They start no cluster.
 */

const root = fileURLToPath(new URL("..", import.meta.url));
const read = (path: string) => readFileSync(join(root, path), "utf8");
// biome-ignore lint/suspicious/noExplicitAny: the objects have no types, and a wrong access makes a test fail.
type Document = any;
const yaml = (path: string): Document => load(read(path));
const manifest = JSON.parse(read("package.json"));

/** A folder with the packages of deploy/requirements.txt. */
const packages = process.env.GUARD_HELM;
if (packages === undefined) {
  console.warn("The chart is not rendered: set GUARD_HELM to a folder with the packages of deploy/requirements.txt.");
}

const CASES = {
  default: {},
  everything: {
    redis: { mode: "deploy" },
    autoscaling: { method: "keda", minReplicas: 3 },
    httpRoute: { enabled: true, parentRefs: [{ name: "public" }], hostnames: ["guard.example.com"] },
    image: { digest: `sha256:${"0".repeat(64)}`, pullSecrets: [{ name: "registry" }] },
    networkPolicy: { allowModelHub: true, egress: [{ ports: [{ port: 4318, protocol: "TCP" }] }] },
    env: [{ name: "HF_TOKEN", value: "x" }],
    ...{ podAnnotations: { a: "b" }, podLabels: { c: "d" }, nodeSelector: { e: "f" }, priorityClassName: "high" },
    ...{ tolerations: [{ operator: "Exists" }], affinity: { nodeAffinity: {} }, service: { annotations: { g: "h" } } },
  },
  adapter: { redis: { mode: "external", port: 6380 }, autoscaling: { method: "prometheus-adapter" } },
  daemonSet: yaml("deploy/recipes/daemonset.yml"),
  watching: { watchConfig: true, networkPolicy: { enabled: false }, disruptionBudget: { enabled: false } },
  otherConfig: { config: "input_scanners:\n  - type: Secrets\n" },
  unknown: { replica: 3 },
  contradiction: { kind: "DaemonSet", autoscaling: { method: "keda" } },
  reversed: { autoscaling: { minReplicas: 5, maxReplicas: 2 } },
  routeToNowhere: { httpRoute: { enabled: true } },
};
/** The values of the commands of the docs, such as `helm install guard deploy/chart --set a.b=c`. */
const DOCUMENTED = [
  ...read("docs/kubernetes.md")
    .replaceAll("\\\n", " ")
    .matchAll(/^helm (?:install|upgrade) (.*)$/gm),
].map(([, options = ""]) => {
  const values: Document = {};
  for (const [, option, value = ""] of options.matchAll(/--(set|set-file|values) (\S+)/g)) {
    if (option === "values") Object.assign(values, yaml(value));
    else {
      const [path = "", text] = value.split(/=(.*)/);
      const keys = path.split(".");
      const last = keys.pop() as string;
      const target = keys.reduce((parent, key) => (parent[key] ??= {}), values);
      target[last] = option === "set" ? text : "input_scanners: []";
    }
  }
  return values;
});
type Case = { documents?: Document[]; error?: string; unchecked?: string[] };

describe.skipIf(packages === undefined)("the Helm chart", () => {
  let app: FastifyInstance;
  let results: Record<keyof typeof CASES, Case>;
  let documented: Case[];
  let lint: { errors: string[]; messages: { severity: number }[] };
  beforeAll(async () => {
    const request = {
      chart: join(root, "deploy/chart"),
      cases: [...Object.values(CASES), ...DOCUMENTED],
      documents: sidecar(),
    };
    const output = execFileSync("python3", [join(root, "test/support/render-chart.py")], {
      input: JSON.stringify(request),
      env: { ...process.env, PYTHONPATH: packages },
      encoding: "utf8",
    });
    const { cases, ...reply } = JSON.parse(output);
    lint = reply.lint;
    documented = cases.slice(-DOCUMENTED.length);
    results = Object.fromEntries(Object.keys(CASES).map((name, index) => [name, cases[index]])) as typeof results;
    app = await createServer({
      config: { metrics: { public: true }, inputScanners: [{ type: "InvisibleText" }] },
      logger: { write: () => {} },
    });
  }, 60_000);
  afterAll(() => app?.close());

  const sidecar = () => loadAll(read("deploy/recipes/sidecar.yml")) as Document[];
  const kindsOf = ({ documents = [] }: Case) => documents.map(({ kind }) => kind).sort();
  const find = ({ documents = [] }: Case, kind: string, name = "guard"): Document =>
    documents.find((document) => document.kind === kind && document.metadata.name === name);
  const podOf = (of: Case, kind = "Deployment") => find(of, kind).spec.template.spec;
  const variables = (of: Case, kind?: string) => podOf(of, kind).containers[0].env.map(({ name }: Document) => name);

  it("has no errors, and the version of the package", () => {
    expect(lint.errors).toEqual([]);
    expect(lint.messages.filter(({ severity }) => severity > 1)).toEqual([]);
    const { version, appVersion } = yaml("deploy/chart/Chart.yaml");
    expect([version, appVersion]).toEqual([manifest.version, manifest.version]);
    expect(read("deploy/recipes/sidecar.yml")).toContain(`guard-scan/guard:${manifest.version}`);
  });

  it("makes the objects that the values ask for, and all are valid", () => {
    const server = ["ConfigMap", "Deployment", "NetworkPolicy", "PodDisruptionBudget", "Service"];
    expect(kindsOf(results.default)).toEqual(server);
    expect(kindsOf(results.everything)).toEqual(
      [...server, "Deployment", "HTTPRoute", "NetworkPolicy", "ScaledObject", "Service"].sort(),
    );
    expect(kindsOf(results.adapter)).toEqual([...server, "HorizontalPodAutoscaler"].sort());
    expect(kindsOf(results.daemonSet)).toEqual(["ConfigMap", "DaemonSet", "NetworkPolicy", "Service"]);
    expect(kindsOf(results.watching)).toEqual(["ConfigMap", "Deployment", "Service"]);
    const unchecked = Object.values(results).flatMap((result) => result.unchecked ?? []);
    expect(unchecked.sort()).toEqual(["HTTPRoute", "ScaledObject"]);
  });

  it("refuses unknown values and contradictions", () => {
    expect(results.unknown.error).toContain("replica");
    expect(results.contradiction.error).toContain("autoscaling.method");
    expect(results.reversed.error).toContain("autoscaling.minReplicas");
    expect(results.routeToNowhere.error).toContain("parentRefs");
  });

  it("accepts the commands of the docs", () => {
    expect(documented.map(({ error }) => error)).toEqual([undefined, undefined, undefined]);
    expect(documented.map((result) => kindsOf(result).filter((kind) => /Set|Scaled|Deployment/.test(kind)))).toEqual([
      ["Deployment"],
      ["Deployment", "ScaledObject"],
      ["DaemonSet"],
    ]);
  });

  it("has a schema for every default value", () => {
    const check = (values: Document, { properties }: Document, path: string) => {
      for (const [name, value] of Object.entries<Document>(values)) {
        expect(properties, `${path}${name}`).toHaveProperty(name);
        if (properties[name].properties) check(value, properties[name], `${path}${name}.`);
      }
    };
    check(yaml("deploy/chart/values.yaml"), JSON.parse(read("deploy/chart/values.schema.json")), "");
  });

  it("probes routes of the server, at its port", async () => {
    const [container] = podOf(results.default).containers;
    const [port] = container.ports;
    for (const { httpGet } of [container.startupProbe, container.readinessProbe, container.livenessProbe]) {
      expect(httpGet.port).toBe(port.name);
      expect((await app.inject(httpGet.path)).statusCode).toBe(200);
    }
    const { annotations } = find(results.default, "Deployment").spec.template.metadata;
    expect(annotations["prometheus.io/port"]).toBe(String(port.containerPort));
    expect((await app.inject(annotations["prometheus.io/path"])).statusCode).toBe(200);
    expect(find(results.default, "Service").spec.ports[0].targetPort).toBe(port.name);
    expect(read("Dockerfile")).toContain(`EXPOSE ${port.containerPort}`);
    const [guard] = sidecar()[1].spec.template.spec.initContainers;
    expect(guard.startupProbe.exec.command.join(" ")).toContain("127.0.0.1:8000/readyz");
  });

  it("gives containers the least privileges", () => {
    const pods = [podOf(results.everything), podOf(results.daemonSet, "DaemonSet")];
    pods.push(find(results.everything, "Deployment", "guard-redis").spec.template.spec);
    for (const { securityContext, containers, automountServiceAccountToken } of pods) {
      expect(securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } });
      expect(automountServiceAccountToken).toBe(false);
      expect(containers[0].securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ["ALL"] },
      });
    }
    expect(podOf(results.default).securityContext.runAsUser).toBe(
      Number(/^USER (\d+):/m.exec(read("Dockerfile"))?.[1]),
    );
  });

  it("has Redis for those who want it", () => {
    expect(variables(results.default)).not.toContain("REDIS_URL");
    const entry = (of: Case) => podOf(of).containers[0].env.find(({ name }: Document) => name === "REDIS_URL");
    expect(entry(results.everything).value).toBe("redis://guard-redis:6379");
    expect(entry(results.adapter).valueFrom.secretKeyRef).toEqual({ name: "guard", key: "redis-url" });
    const selector = find(results.everything, "Service", "guard-redis").spec.selector;
    const labels = find(results.everything, "Deployment", "guard-redis").spec.template.metadata.labels;
    expect(labels).toMatchObject(selector);
    expect(find(results.everything, "Service").spec.selector).not.toEqual(selector);
  });

  it("allows only the connections that guard needs", () => {
    const policy = (of: Case) => find(of, "NetworkPolicy").spec;
    const ports = (of: Case) =>
      policy(of).egress.map(({ ports: [{ port }], to }: Document) => (to ? `${port} of pods` : port));
    expect(policy(results.default).policyTypes).toEqual(["Ingress", "Egress"]);
    expect(ports(results.default)).toEqual([53]);
    expect(ports(results.adapter)).toEqual([53, 6380]);
    expect(ports(results.everything)).toEqual([53, "6379 of pods", 443, 4318]);
    for (const { from } of policy(results.default).ingress) expect(from.length).toBeGreaterThan(0);
    const [{ from }] = find(results.everything, "NetworkPolicy", "guard-redis").spec.ingress;
    expect(find(results.everything, "Deployment").spec.template.metadata.labels).toMatchObject(
      from[0].podSelector.matchLabels,
    );
  });

  it("scales by a metric of the server", async () => {
    expect(find(results.default, "Deployment").spec.replicas).toBe(2);
    expect(find(results.everything, "Deployment").spec).not.toHaveProperty("replicas");
    const metrics = (await app.inject("/metrics")).body;
    const { name } = find(results.adapter, "HorizontalPodAutoscaler").spec.metrics[0].pods.metric;
    expect(metrics).toContain(`# TYPE ${name} gauge`);
    const [rule] = yaml("deploy/prometheus-adapter.yml").rules.custom;
    expect(rule.seriesQuery).toMatch(new RegExp(`^${name}\\{`));
    expect(rule.name.as).toBe(name);
    const { spec } = find(results.everything, "ScaledObject");
    expect(spec.triggers[0].metadata.query).toBe(`sum(${name}{namespace="ai",pod=~"guard-.*"})`);
    expect([spec.minReplicaCount, spec.maxReplicaCount]).toEqual([3, 10]);
  });

  it("exposes no metrics and no routes for operators", () => {
    const [{ matches }] = find(results.everything, "HTTPRoute").spec.rules;
    const paths = matches.map(({ path }: Document) => path.value);
    for (const path of ["/metrics", "/admin/reload", "/"]) {
      expect(paths.some((prefix: string) => `${path}/`.startsWith(`${prefix}/`))).toBe(false);
    }
  });

  it("mounts a valid configuration, and restarts pods or reloads when it changes", async () => {
    const folder = mkdtempSync(join(tmpdir(), "guard-chart-"));
    try {
      const path = join(folder, "scanners.yml");
      writeFileSync(path, find(results.default, "ConfigMap").data["scanners.yml"]);
      const { app: settings, auth } = await loadConfig(path, { AUTH_TOKEN: "secret" });
      expect(auth).toHaveLength(1);
      const longest = Math.max(settings.scanPromptTimeout, settings.scanOutputTimeout) + 5;
      const { terminationGracePeriodSeconds, containers } = podOf(results.default);
      expect(terminationGracePeriodSeconds).toBeGreaterThanOrEqual(
        longest + containers[0].lifecycle.preStop.sleep.seconds,
      );
      writeFileSync(path, sidecar()[0].data["scanners.yml"]);
      expect((await loadConfig(path, { HOST: "127.0.0.1" })).app.host).toBe("127.0.0.1");
    } finally {
      rmSync(folder, { recursive: true });
    }
    const checksum = (of: Case) => find(of, "Deployment").spec.template.metadata.annotations["checksum/config"];
    expect(checksum(results.default)).toMatch(/^[0-9a-f]{64}$/);
    expect(checksum(results.otherConfig)).not.toBe(checksum(results.default));
    expect(checksum(results.watching)).toBeUndefined();
    expect(podOf(results.watching).containers[0].args).toEqual(["serve", "--watch"]);
    const [container] = podOf(results.default).containers;
    const places = container.volumeMounts.map(({ mountPath }: Document) => mountPath);
    expect(places).toEqual(
      [/^WORKDIR (\S+)$/gm, /GUARD_MODELS_DIR=(\S+)/g].map((p) => [...read("Dockerfile").matchAll(p)].at(-1)?.[1]),
    );
  });

  it("sets only variables that guard reads", () => {
    const sources = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith(".ts"))
      .map((path) => read(join("src", path)));
    const known = [...sources, read("deploy/chart/scanners.yml")].join("\n");
    for (const name of variables(results.everything)) expect(known).toContain(name);
  });

  it("leads pods to the guard of their node, as a DaemonSet", () => {
    expect(find(results.daemonSet, "Service").spec.internalTrafficPolicy).toBe("Local");
    expect(find(results.daemonSet, "DaemonSet").spec).not.toHaveProperty("replicas");
  });
});
