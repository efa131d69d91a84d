import { ParleyError, TransportError } from './errors.ts';
import { type Answer, answerOf, type HttpOptions, repeat } from './http.ts';

export interface UploadProgress {
  readonly sentBytes: number;
  readonly totalBytes: number;
}

export interface UploadOptions {
  readonly onProgress?: (progress: UploadProgress) => void;
  readonly signal?: AbortSignal;
}

/**
 * Sends a file with `PUT`, repeated after a lost connection: an upload takes one file.
 * @throws ParleyError if the gateway refuses the file, TransportError if it cannot be reached
 */
export async function put(
  http: HttpOptions,
  url: string,
  file: Blob,
  { onProgress, signal }: UploadOptions,
): Promise<void> {
  // In a browser with XMLHttpRequest, because fetch does not report the progress of a body.
  const send = (token: string): Promise<Answer> =>
    typeof XMLHttpRequest === 'undefined'
      ? putByFetch(url, token, file, onProgress, signal, http.fetch)
      : putByXhr(url, token, file, onProgress, signal);
  check(await repeat(http, send, true, signal));
}

/** Throws for a refusal. A CONFLICT counts as success: an earlier attempt, whose answer was lost, has stored the file. */
function check({ status, text }: Answer): void {
  if (status >= 200 && status < 300) return;
  let error: { readonly code?: string; readonly message?: string; readonly details?: Record<string, unknown> } = {};
  try {
    error = JSON.parse(text).error ?? {};
  } catch {
    throw new TransportError(`The upload was refused (HTTP ${status}).`, status);
  }
  const { code, message = `The upload was refused (HTTP ${status}).`, details } = error;
  if (code === 'CONFLICT') return;
  throw new ParleyError([{ message, extensions: { ...(code && { code }), ...(details && { details }) } }]);
}

function putByXhr(
  url: string,
  token: string,
  file: Blob,
  onProgress: UploadOptions['onProgress'],
  signal: AbortSignal | undefined,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const abort = (): void => request.abort();
    request.open('PUT', url);
    request.setRequestHeader('authorization', `Bearer ${token}`);
    if (file.type) request.setRequestHeader('content-type', file.type);
    request.upload.onprogress = ({ loaded, total }) => onProgress?.({ sentBytes: loaded, totalBytes: total });
    request.onload = () =>
      resolve({
        status: request.status,
        text: request.responseText,
        retryAfter: request.getResponseHeader('retry-after'),
      });
    request.onerror = () => reject(new TransportError('The upload was interrupted.'));
    request.onabort = () => reject(signal?.reason ?? new TransportError('The upload was aborted.'));
    signal?.addEventListener('abort', abort, { once: true });
    request.onloadend = () => signal?.removeEventListener('abort', abort);
    request.send(file);
  });
}

async function putByFetch(
  url: string,
  token: string,
  file: Blob,
  onProgress: UploadOptions['onProgress'],
  signal: AbortSignal | undefined,
  fetchFile: typeof fetch,
): Promise<Answer> {
  let sentBytes = 0;
  const counted = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      sentBytes += chunk.byteLength;
      onProgress?.({ sentBytes, totalBytes: file.size });
      controller.enqueue(chunk);
    },
  });
  const response = await fetchFile(url, {
    method: 'PUT',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': file.type || 'application/octet-stream',
      'content-length': String(file.size),
    },
    body: file.stream().pipeThrough(counted),
    // Required for a stream, and missing in the types of the DOM.
    ...({ duplex: 'half' } as object),
    ...(signal && { signal }),
  });
  return answerOf(response);
}
