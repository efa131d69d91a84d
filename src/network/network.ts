/**
 * The messaging network as the gateway sees it: a small interface, with the Cloud API client behind it in production and
 * in development (where it talks to the emulator over HTTP, never in process).
 */
import type { Readable } from 'node:stream';
import type { JsonObject } from '../platform/json.ts';

/** What a call to the network needs of a channel. `accessToken` is a secret: it is decrypted just before the call and never logged. */
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
  /** Our message id, echoed by every status webhook (`biz_opaque_callback_data`): it settles a send whose answer was lost. */
  readonly callbackData: string;
  readonly to: string;
  readonly content: OutgoingContent;
  /** wamid of the message that this one answers. */
  readonly replyTo?: string;
}

/** What can be sent. */
export type OutgoingType = 'text' | MediaType | 'template' | 'interactive';
export type MediaType = 'image' | 'video' | 'audio' | 'document';

/**
 * A text, or the network's own object of another type, such as `{ link, caption }` of an image (cloud-api §4). There is one
 * network; a vocabulary of our own would only be a second spelling of its words.
 */
export type OutgoingContent =
  | { readonly type: 'text'; readonly text: string; readonly previewUrl: boolean }
  | { readonly type: Exclude<OutgoingType, 'text'>; readonly object: JsonObject };

/**
 * What to do with an error of the network. Built on the error code, never on the HTTP status.
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
  /** How long the network asks us to wait, where it says so (`estimated_time_to_regain_access`). */
  readonly retryAfterMs?: number;
  readonly traceId?: string;
}

export type SendOutcome =
  /** The network took the message. That is not a delivery. `waId` may differ from the number sent to (Brazil, Mexico). */
  | { readonly kind: 'accepted'; readonly wamid: string; readonly waId?: string; readonly userId?: string }
  /** The network answered with an error: it did not take the message. */
  | { readonly kind: 'refused'; readonly error: NetworkError }
  /** The request never reached the network (refused connection, DNS, connect time-out): trying again cannot double it. */
  | { readonly kind: 'unsent'; readonly reason: string }
  /** Time-out, broken connection or 5xx after the request was written: it may have been taken. Wait for a status webhook before trying again. */
  | { readonly kind: 'in_doubt'; readonly reason: string };

export interface PhoneNumberInfo {
  readonly id: string;
  readonly displayPhoneNumber: string;
  readonly verifiedName: string;
  readonly qualityRating: string | null;
}

/** A template as the network has it. Its words (status, category, quality) are passed on as they are, whichever they are. */
export interface NetworkTemplate {
  readonly id: string;
  readonly name: string;
  /** `en_US`: with an underscore, also where the network wrote `en-US`. */
  readonly language: string;
  readonly category: string;
  readonly status: string;
  /** Why it was rejected; null where there is nothing to say. */
  readonly statusReason: string | null;
  readonly parameterFormat: string;
  /** Null where the network does not say. */
  readonly quality: string | null;
  readonly components: readonly JsonObject[];
}

/** A template that is to be made, in the network's own form (cloud-api §6). */
export interface TemplateDefinition {
  readonly name: string;
  readonly language: string;
  readonly category: string;
  readonly parameterFormat: 'POSITIONAL' | 'NAMED';
  readonly components: readonly JsonObject[];
}

/** What the network made of it: the category may be another one. */
export type SubmittedTemplate = Pick<NetworkTemplate, 'id' | 'status' | 'category'>;

export interface Network {
  /** Never rejects for a fault of the network: the outcome says what is known. */
  send(channel: ChannelCredentials, message: OutgoingMessage): Promise<SendOutcome>;
  /** Marks an inbound message (and those before it) as read. Rejects with a `NetworkCallError`. */
  markRead(channel: ChannelCredentials, wamid: string): Promise<void>;
  /** Reads the business number behind a channel. Rejects with a `NetworkCallError`: used to check credentials when a channel is connected. */
  phoneNumber(channel: ChannelCredentials): Promise<PhoneNumberInfo>;
  /** All templates of the channel's business account, page by page as the network gives them. Rejects with a `NetworkCallError`: the list is then not known to its end. */
  templatePages(channel: ChannelCredentials): AsyncIterable<readonly NetworkTemplate[]>;
  /** Submits a template; the network reviews it later and tells by webhook. Rejects with a `NetworkCallError`. */
  createTemplate(channel: ChannelCredentials, definition: TemplateDefinition): Promise<SubmittedTemplate>;
  /** Takes one language of a template away. Rejects with a `NetworkCallError`. */
  deleteTemplate(channel: ChannelCredentials, template: Pick<NetworkTemplate, 'id' | 'name'>): Promise<void>;
  /**
   * Hands a file to the network, as fast as it takes it and never faster. Where the source fails, the connection is broken: half a file is never taken.
   * @returns the network's id of the file, which lives 30 days
   * @throws NetworkCallError, or what the source threw
   */
  uploadMedia(channel: ChannelCredentials, file: OutgoingFile): Promise<string>;
  /** What the network knows of a file, its own or a received one. Rejects with a `NetworkCallError`. */
  mediaInfo(channel: ChannelCredentials, mediaId: string): Promise<MediaInfo>;
  /**
   * Opens a file at the address that `mediaInfo` gave; nowhere else, because the channel's token goes with it.
   * @returns undefined when the address is not good any more: ask for it again
   * @throws NetworkCallError
   */
  downloadMedia(channel: ChannelCredentials, url: string, range?: string): Promise<MediaDownload | undefined>;
  /** Cuts the connections: a call under way ends as one whose answer was lost. May be called twice. */
  close(): Promise<void>;
}

/** A file on its way to the network. */
export interface OutgoingFile {
  readonly stream: AsyncIterable<Uint8Array>;
  readonly mimeType: string;
  readonly filename: string;
  /** In bytes, where it is known beforehand; the stream then has to give exactly so many. */
  readonly size: number | undefined;
}

export interface MediaInfo {
  /** Good for five minutes, with the channel's token. */
  readonly url: string;
  readonly mimeType: string;
  /** Hex. */
  readonly sha256: string | undefined;
  /** Bytes. */
  readonly size: number | undefined;
}

/** A file, or a part of one, as the network sends it. Whoever does not read it to its end has to destroy it. */
export interface MediaDownload {
  /** 200, 206 (a part) or 416 (there is no such part). */
  readonly status: 200 | 206 | 416;
  readonly contentLength: string | undefined;
  readonly contentRange: string | undefined;
  readonly stream: Readable;
}

/** A call other than `send` that failed; `error` when the network answered, else only the reason. */
export class NetworkCallError extends Error {
  override readonly name = 'NetworkCallError';
  readonly error: NetworkError | undefined;

  constructor(message: string, error?: NetworkError, cause?: unknown) {
    super(message, { cause });
    this.error = error;
  }
}

export type MessageStatus = 'sent' | 'delivered' | 'read' | 'failed';

/** One update of the network's webhook, normalised. Any of `from`, `waId`, `userId` and `recipientId` may be missing. */
export type NetworkUpdate =
  | {
      readonly kind: 'status';
      readonly phoneNumberId: string;
      readonly wamid: string;
      /** Our message id, when the send carried it. */
      readonly callbackData: string | undefined;
      readonly status: MessageStatus;
      readonly at: Date;
      readonly recipientId: string | undefined;
      readonly userId: string | undefined;
      readonly error: NetworkError | undefined;
    }
  | {
      readonly kind: 'message';
      readonly phoneNumberId: string;
      readonly wamid: string;
      /** Digits of the sender's number, when the network shows it. */
      readonly from: string | undefined;
      /** Business-scoped user id (`CC.` + alphanumerics), when the network sends one. */
      readonly userId: string | undefined;
      readonly profileName: string | undefined;
      readonly at: Date;
      /** The network's own type word: text, image, button, interactive, reaction, location, contacts, unsupported, … */
      readonly type: string;
      /** The readable text: body, caption, button title, emoji; undefined where there is none. */
      readonly text: string | undefined;
      /** wamid of the message this one answers or reacts to. */
      readonly replyTo: string | undefined;
      /** The type's own object as the network sent it (`message[message.type]`, or the whole message minus envelope where there is none). */
      readonly content: unknown;
      readonly error: NetworkError | undefined;
    }
  | {
      readonly kind: 'template';
      readonly wabaId: string;
      readonly name: string;
      /** With an underscore: `en_US`. */
      readonly language: string;
      /** What it is now. Where none of the three is there, something else about it changed. */
      readonly status?: { readonly word: string; readonly reason: string | null };
      readonly quality?: string;
      readonly category?: string;
    }
  | { readonly kind: 'other'; readonly wabaId: string; readonly field: string; readonly value: unknown };
