import { ParleyError, TransportError } from './errors.ts';

export interface UploadProgress {
  readonly sentBytes: number;
  readonly totalBytes: number;
}

export interface UploadOptions {
  readonly onProgress?: (progress: UploadProgress) => void;
  readonly signal?: AbortSignal;
}

/** Sends a file with `PUT`. In a browser with XMLHttpRequest, because fetch does not report the progress of a body. */
export const put = (
  url: string,
  token: string,
  file: Blob,
  { onProgress, signal }: UploadOptions,
  fetchFile: typeof fetch,
): Promise<void> =>
  typeof XMLHttpRequest === 'undefined'
    ? putByFetch(url, token, file, onProgress, signal, fetchFile)
    : putByXhr(url, token, file, onProgress, signal);

const check = (status: number, body: string): void => {
  if (status >= 200 && status < 300) return;
  let error: { readonly code?: string; readonly message?: string; readonly details?: Record<string, unknown> } = {};
  try {
    error = JSON.parse(body).error ?? {};
  } catch {
    throw new TransportError(`The upload was refused (HTTP ${status}).`, status);
  }
  const { code, message = `The upload was refused (HTTP ${status}).`, details } = error;
  throw new ParleyError([{ message, extensions: { ...(code && { code }), ...(details && { details }) } }]);
};

function putByXhr(
  url: string,
  token: string,
  file: Blob,
  onProgress: UploadOptions['onProgress'],
  signal: AbortSignal | undefined,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const abort = (): void => request.abort();
    request.open('PUT', url);
    request.setRequestHeader('authorization', `Bearer ${token}`);
    if (file.type) request.setRequestHeader('content-type', file.type);
    request.upload.onprogress = ({ loaded, total }) => onProgress?.({ sentBytes: loaded, totalBytes: total });
    request.onload = () => {
      try {
        check(request.status, request.responseText);
        resolve();
      } catch (error) {
        reject(error);
      }
    };
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
): Promise<void> {
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
  check(response.status, await response.text());
}
