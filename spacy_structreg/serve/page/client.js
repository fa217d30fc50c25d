// Requests to the server's API.

const LONGEST_WAIT = 8;
const TRIES_WHEN_BUSY = 4;

/** An answer that is an error; `message` says what to do, of the code "unknown" the status alone. */
export class ServerError extends Error {
  constructor(status, code, message) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

function pause(seconds, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, 1000 * seconds);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}

async function errorOf(response) {
  try {
    const { error } = await response.json();
    return new ServerError(response.status, error.code, error.message);
  } catch {
    return new ServerError(response.status, "unknown", String(response.status));
  }
}

/**
 * Ask the server, again and again while it is gone or loads the pipeline, and some times while it is
 * busy.
 *
 * waiting(reason, seconds): called before each pause; reason is "gone", "loading" or "busy".
 * Throws ServerError for an answer that is an error, and the signal's reason when it is aborted.
 */
export async function ask(path, { body, accept = "application/json", signal, waiting } = {}) {
  const request = {
    method: body ? "POST" : "GET",
    headers: { Accept: accept, ...(body && { "Content-Type": "application/json" }) },
    body: body && JSON.stringify(body),
    signal,
  };
  let wait = 0.5;
  for (let tries = 1; ; tries += 1) {
    let response;
    try {
      response = await fetch(path, request);
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      if (!(error instanceof TypeError)) throw error;
    }
    if (response?.ok) return accept === "application/json" ? response.json() : response.text();
    let reason = "gone";
    if (response) {
      const error = await errorOf(response);
      const isBusy = response.status === 503 || response.status === 429;
      reason = error.code === "loading" ? "loading" : "busy";
      // A text that takes too long takes too long again.
      const isLast = error.code === "time_over" || tries >= TRIES_WHEN_BUSY;
      if (!isBusy || (isLast && reason === "busy")) throw error;
    }
    const told = Number(response?.headers.get("Retry-After")) || wait;
    waiting?.(reason, told);
    await pause(told, signal);
    if (!response) wait = Math.min(2 * wait, LONGEST_WAIT);
  }
}
