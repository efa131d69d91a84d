/**
 * The interface of the messaging network. The Cloud API client implements it, in development over HTTP to the emulator, never in
 * process.
 */
import type { Readable } from 'node:stream';
import type { JsonObject } from '../platform/json.ts';
import type { NumberHealth } from './health.ts';

/** The credentials of a channel. `accessToken` is a secret: decrypted just before the call and never logged. */
export interface ChannelCredentials {
  readonly phoneNumberId: string;
  readonly wabaId: string;
  readonly accessToken: string;
}

/**
 * One message to one person. `to` is E.164 with its plus sign (without it the network prepends the business's own country
 * code), or the business-scoped user id of a person whose number the network does not show.
 */
export interface OutgoingMessage {
  /** Our message id, echoed by every status webhook (`biz_opaque_callback_data`): it settles a send whose response was lost. */
  readonly callbackData: string;
  readonly to: string;
  readonly content: OutgoingContent;
  /** wamid of the message that this one replies to. */
  readonly replyTo?: string;
}

/** Types of messages that can be sent. */
export type OutgoingType = 'text' | MediaType | 'template' | 'interactive' | 'location' | 'contacts' | 'reaction';
export type MediaType = 'image' | 'video' | 'audio' | 'document' | 'sticker';

/**
 * A text, or the network's object of another type, for example `{ link, caption }` of an image (cloud-api §4). Not mapped to names of
 * our own, because there is only one network.
 */
export type OutgoingContent =
  | { readonly type: 'text'; readonly text: string; readonly previewUrl: boolean }
  | { readonly type: 'contacts'; readonly cards: readonly unknown[] }
  | { readonly type: Exclude<OutgoingType, 'text' | 'contacts'>; readonly object: JsonObject };

/**
 * How to handle an error of the network. Derived from the error code, never from the HTTP status.
 * - `retry_backoff`: the same send again, after exponential backoff.
 * - `retry_after_wait`: a quota or lock window; wait minutes to hours.
 * - `no_retry`: terminal for this message or recipient.
 * - `fix_request`: terminal until the caller changes the request.
 * - `auth`, `pause_account`: the sender stops; a person has to act.
 */
export type RetryClass = 'retry_backoff' | 'retry_after_wait' | 'no_retry' | 'fix_request' | 'auth' | 'pause_account';

export interface NetworkError {
  readonly code: number;
  readonly title: string;
  readonly details: string;
  readonly retryClass: RetryClass;
  /** Requested wait, if given (`estimated_time_to_regain_access`). */
  readonly retryAfterMs?: number;
  readonly traceId?: string;
}

/** Whether the same call may succeed later. */
export const isRetryable = ({ retryClass }: Pick<NetworkError, 'retryClass'>): boolean =>
  retryClass === 'retry_backoff' || retryClass === 'retry_after_wait';

export type SendOutcome =
  /** The network accepted the message; it is not delivered yet. `waId` may differ from the number sent to (Brazil, Mexico). */
  | { readonly kind: 'accepted'; readonly wamid: string; readonly waId?: string; readonly userId?: string }
  /** The network responded with an error: it did not accept the message. */
  | { readonly kind: 'refused'; readonly error: NetworkError }
  /** The request did not reach the network (connection refused, DNS, connect timeout): a retry cannot duplicate it. */
  | { readonly kind: 'unsent'; readonly reason: string }
  /** Timeout, broken connection or 5xx after the request was written: it may have been accepted. Wait for a status webhook before a retry. */
  | { readonly kind: 'in_doubt'; readonly reason: string }
  /** Not written, because `mayCall` returned false once the connection was ready. */
  | { readonly kind: 'withheld' };

export interface PhoneNumberInfo {
  readonly id: string;
  readonly displayPhoneNumber: string;
  readonly verifiedName: string;
  readonly qualityRating: string | null;
}

/** A template of the network. Status, category and quality are passed on unchanged; they are not closed sets. */
export interface NetworkTemplate {
  readonly id: string;
  readonly name: string;
  /** With an underscore (`en_US`), even if the network wrote `en-US`. */
  readonly language: string;
  readonly category: string;
  readonly status: string;
  /** Why it was rejected; null if not given. */
  readonly statusReason: string | null;
  readonly parameterFormat: string;
  /** Null if not given. */
  readonly quality: string | null;
  readonly components: readonly JsonObject[];
}

/** A template to create, in the network's format (cloud-api §6). */
export interface TemplateDefinition {
  readonly name: string;
  readonly language: string;
  readonly category: string;
  readonly parameterFormat: 'POSITIONAL' | 'NAMED';
  readonly components: readonly JsonObject[];
}

/** The created template. The network may have changed the category. */
export type SubmittedTemplate = Pick<NetworkTemplate, 'id' | 'status' | 'category'>;

export interface Network {
  /**
   * Does not reject for network errors: they are outcomes.
   * @param mayCall called immediately before the request is written, which may be long after this call
   */
  send(channel: ChannelCredentials, message: OutgoingMessage, mayCall?: () => boolean): Promise<SendOutcome>;
  /**
   * Marks an inbound message (and those before it) as read. Rejects with a `NetworkCallError`.
   * @param options `showTyping` shows a typing indicator to the person, for 25 seconds or until a message is sent
   */
  markRead(channel: ChannelCredentials, wamid: string, options?: { readonly showTyping: boolean }): Promise<void>;
  /** Reads the business number behind a channel. Rejects with a `NetworkCallError`: used to check credentials when a channel is connected. */
  phoneNumber(channel: ChannelCredentials): Promise<PhoneNumberInfo>;
  /** Reads the health of the channel's number. Rejects with a `NetworkCallError`. */
  numberHealth(channel: ChannelCredentials): Promise<NumberHealth>;
  /**
   * The business portfolio that owns the channel's business account, within which user ids are unique. Rejects with a
   * `NetworkCallError` for a transient error.
   * @returns undefined if the token may not see it
   */
  portfolio(channel: ChannelCredentials): Promise<string | undefined>;
  /** Lists the templates of the channel's business account, page by page. Rejects with a `NetworkCallError`: the list is then incomplete. */
  templatePages(channel: ChannelCredentials): AsyncIterable<readonly NetworkTemplate[]>;
  /** Submits a template; the network reviews it and reports the result by webhook. Rejects with a `NetworkCallError`. */
  createTemplate(channel: ChannelCredentials, definition: TemplateDefinition): Promise<SubmittedTemplate>;
  /** Deletes one language of a template. Rejects with a `NetworkCallError`. */
  deleteTemplate(channel: ChannelCredentials, template: Pick<NetworkTemplate, 'id' | 'name'>): Promise<void>;
  /**
   * Uploads a file with backpressure. If the source fails, the connection is closed, so that the network never stores a partial file.
   * @returns the network's id of the file, which lives 30 days
   * @throws NetworkCallError, or the error of the source
   */
  uploadMedia(channel: ChannelCredentials, file: OutgoingFile): Promise<string>;
  /**
   * Uploads the example of a template's media header, from which the review judges what sends will show.
   * @returns the handle for `example.header_handle`
   * @throws NetworkCallError, or the error of the source
   */
  uploadExample(channel: ChannelCredentials, file: OutgoingFile & { readonly size: number }): Promise<string>;
  /** Metadata of an uploaded or received file. Rejects with a `NetworkCallError`. */
  mediaInfo(channel: ChannelCredentials, mediaId: string): Promise<MediaInfo>;
  /**
   * Downloads from the URL of `mediaInfo`, and only from there, because the request contains the channel's token.
   * @returns undefined if the URL has expired: request it again
   * @throws NetworkCallError
   */
  downloadMedia(channel: ChannelCredentials, url: string, range?: string): Promise<MediaDownload | undefined>;
  /** Closes the connections; pending calls end as if their responses were lost. May be called twice. */
  close(): Promise<void>;
}

/** A file to upload. */
export interface OutgoingFile {
  readonly stream: AsyncIterable<Uint8Array>;
  readonly mimeType: string;
  readonly filename: string;
  /** In bytes, if known; the stream must then have exactly this length. */
  readonly size: number | undefined;
}

export interface MediaInfo {
  /** Valid for five minutes, with the channel's token. */
  readonly url: string;
  readonly mimeType: string;
  /** Hex. */
  readonly sha256: string | undefined;
  /** Bytes. */
  readonly size: number | undefined;
}

/** A download of a file or a part of it. The caller must read the stream to its end or destroy it. */
export interface MediaDownload {
  /** 200, 206 (partial) or 416 (range not satisfiable). */
  readonly status: 200 | 206 | 416;
  readonly contentLength: string | undefined;
  readonly contentRange: string | undefined;
  readonly stream: Readable;
}

/** Thrown by calls other than `send`; `error` is set if the network responded. */
export class NetworkCallError extends Error {
  override readonly name = 'NetworkCallError';
  readonly error: NetworkError | undefined;

  constructor(message: string, error?: NetworkError, cause?: unknown) {
    super(message, { cause });
    this.error = error;
  }
}

export type MessageStatus = 'sent' | 'delivered' | 'read' | 'failed';

/** The network's identifiers of a person. Any of them may be missing. */
export interface NetworkPerson {
  /** Digits of the number. */
  readonly waId: string | undefined;
  /** Business-scoped user id (`CC.` and letters or digits): unique within the portfolio of the channel. */
  readonly userId: string | undefined;
  /** User id that joins the portfolios of one enterprise (`CC.ENT.`). */
  readonly parentUserId: string | undefined;
}
