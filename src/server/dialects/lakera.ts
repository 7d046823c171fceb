import { randomUUID } from "node:crypto";
import { z } from "zod";
import { chatOf } from "../chat.ts";
import { message } from "../schemas/conversation.ts";
import { type Dialect, endpoint } from "./dialect.ts";

/** The second version of Lakera's API: `POST /v2/guard` says whether messages are flagged. */
export const lakera: Dialect = {
  summary: "Lakera Guard",
  endpoints: [
    endpoint({
      path: "/v2/guard",
      summary: "Check messages, as Lakera Guard does",
      body: z.looseObject({ messages: z.array(message).min(1) }),
      example: {
        request: { messages: [{ role: "user", content: "Hello" }] },
        reply: { flagged: false, metadata: { request_uuid: "7d1c3f7e-5d1b-4a43-8f3c-0c3b2f6a1d55" } },
      },
      async answer({ messages }, { call }) {
        const { report } = await call.request(chatOf({ messages }));
        return {
          body: { flagged: !report.isValid, metadata: { request_uuid: randomUUID() } },
          reports: [report],
        };
      },
    }),
  ],
};
