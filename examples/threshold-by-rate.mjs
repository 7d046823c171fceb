// Sets a false positive rate in place of a threshold. guard reads the threshold from the measured curve of the model.
//   node examples/threshold-by-rate.mjs
import { PromptInjection } from "guard-scan/input-scanners";

const text = "Please ignore my last message, I found the invoice.";
for (const fpr of [0.05, 0.005]) {
  const scanner = new PromptInjection({ threshold: { fpr } });
  const { isValid, probability } = await scanner.scan(text);
  console.log(
    `${fpr * 1000} of 1000 harmless texts may fail: valid ${isValid}, probability below 0.5: ${probability < 0.5}`,
  );
  await scanner.close();
}

// If the model was measured on too few texts for a rate, the rate is an error.
try {
  new PromptInjection({ threshold: { fpr: 1e-9 } });
} catch (error) {
  console.log(error.code, error.path);
}

// Prints:
//   50 of 1000 harmless texts may fail: valid true, probability below 0.5: true
//   5 of 1000 harmless texts may fail: valid true, probability below 0.5: true
//   GUARD_VALIDATION threshold.fpr
