// The service `grpc.health.v1.Health`. Source: https://grpc.io/docs/guides/health-checking/
import { field, message, type Namespace } from "./descriptors.ts";
import type { Handlers, Reply, WritableCall } from "./packages.ts";

export const HEALTH: Namespace = {
  Health: {
    methods: {
      Check: { requestType: "HealthCheckRequest", responseType: "HealthCheckResponse" },
      Watch: { requestType: "HealthCheckRequest", responseType: "HealthCheckResponse", responseStream: true },
    },
  },
  HealthCheckRequest: message({ service: field("string", 1) }),
  HealthCheckResponse: message({ status: field("int32", 1) }),
};

interface HealthReply {
  status: number;
}

const SERVING: HealthReply = { status: 1 };
const NOT_SERVING: HealthReply = { status: 2 };

/** Milliseconds between two looks at the state for a client that watches it. */
const WATCH_MS = 1000;

/** Answers health checks, for all services alike. */
export function healthService(isReady: () => Promise<boolean>): Handlers {
  const state = async () => ((await isReady()) ? SERVING : NOT_SERVING);
  return {
    check(_call: unknown, callback: Reply<HealthReply>) {
      void state().then((reply) => callback(null, reply));
    },
    watch(call: WritableCall) {
      let last: HealthReply | undefined;
      const look = async () => {
        const reply = await state();
        if (reply !== last && !call.destroyed) call.write(reply);
        last = reply;
      };
      void look();
      const timer = setInterval(look, WATCH_MS);
      call.once("close", () => clearInterval(timer)).once("cancelled", () => clearInterval(timer));
    },
  };
}
