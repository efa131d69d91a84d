import type { HealthPatch } from './health.ts';
import type { MessageStatus, NetworkError, NetworkPerson } from './network.ts';

/** Common fields of messages in both directions. Optional fields are not always sent by the network. */
export interface MessageParts {
  readonly wamid: string;
  /** Digits of the sender's number, if the network shows it. */
  readonly from: string | undefined;
  /** Business-scoped user id of the sender (`CC.` + alphanumerics), if the network sends it. */
  readonly userId: string | undefined;
  readonly parentUserId?: string;
  readonly profileName: string | undefined;
  /** For display. It may change, so never use it as a key. */
  readonly username?: string;
  /** Changes with the person's security code. */
  readonly identityHash?: string;
  readonly at: Date;
  /** Set if the network's time could not be parsed: `at` is the time of arrival. */
  readonly isTimeEstimated?: true;
  /** The network's type: text, image, button, interactive, reaction, location, contacts, unsupported, … */
  readonly type: string;
  /** The readable text: body, caption, button title, emoji. */
  readonly text: string | undefined;
  /** wamid of the message that this one replies or reacts to. */
  readonly replyTo: string | undefined;
  readonly forwarding?: 'forwarded' | 'frequently_forwarded';
  readonly referral?: Referral;
  readonly referredProduct?: { readonly catalogId: string | undefined; readonly productId: string | undefined };
  /** The group chat, if it is not a private conversation. */
  readonly groupId?: string;
  /** The content as sent by the network: `message[message.type]`; if that is missing, the message without its envelope. */
  readonly content: unknown;
  readonly error: NetworkError | undefined;
}

/** The ad or post that a person came from. */
export interface Referral {
  readonly source_type: string;
  readonly source_id: string | null;
  readonly source_url: string | null;
  readonly headline: string | null;
  readonly body: string | null;
  readonly media_type: string | null;
  readonly media_url: string | null;
  readonly thumbnail_url: string | null;
  /** `ctwa_clid`: the click that is billed as an ad. */
  readonly click_id: string | null;
  readonly ref: string | null;
  readonly welcome_text: string | null;
}

/** Pricing in the network's terms, which are not a closed set. */
export interface Pricing {
  readonly model: string | null;
  readonly type: string | null;
  readonly category: string | null;
  readonly isBillable: boolean | null;
}

/** Why a change, or part of it, is stored instead of applied. */
export type UnhandledReason =
  /** No reader for its field. */
  | 'unknown_field'
  /** A known field with content that the reader does not understand. */
  | 'unreadable'
  /** Does not have the structure of a webhook. */
  | 'malformed'
  /** Understood; applying it failed. */
  | 'failed';

/** One normalised update of a webhook. */
export type NetworkUpdate =
  | {
      readonly kind: 'status';
      readonly phoneNumberId: string;
      readonly wamid: string;
      /** Our message id, if the send contained it. */
      readonly callbackData: string | undefined;
      readonly status: MessageStatus;
      readonly at: Date;
      readonly isTimeEstimated?: true;
      readonly recipientId: string | undefined;
      readonly userId: string | undefined;
      readonly parentUserId?: string;
      /** Set for a message to a group: the recipient is a participant, or missing. */
      readonly groupId?: string;
      readonly pricing?: Pricing;
      readonly error: NetworkError | undefined;
    }
  | ({
      readonly kind: 'message';
      readonly phoneNumberId: string;
      /** Whether it is a copy from a thread that another app owns. */
      readonly isStandby?: true;
      /** For a system message: the person's old and new identity. */
      readonly change?: { readonly before: NetworkPerson; readonly after: NetworkPerson };
    } & MessageParts)
  /** A message that the business sent from the phone app or (standby) through another app. */
  | ({
      readonly kind: 'echo';
      readonly phoneNumberId: string;
      readonly origin: 'phone_app' | 'other_app';
      readonly to: NetworkPerson;
    } & MessageParts)
  /** A message from before the number was connected. `status` is set for messages of the business. */
  | ({
      readonly kind: 'past_message';
      readonly phoneNumberId: string;
      readonly direction: 'inbound' | 'outbound';
      readonly person: NetworkPerson;
      /** Whether `userId` comes from the thread (the current one) because the message has none. */
      readonly isUserIdOfThread: boolean;
      readonly status: MessageStatus | undefined;
    } & MessageParts)
  | {
      readonly kind: 'history_progress';
      readonly phoneNumberId: string;
      readonly phase: number | undefined;
      /** 0 to 100. */
      readonly progress: number | undefined;
      /** Set if the business shares no history or reading it failed. */
      readonly error: NetworkError | undefined;
    }
  | {
      readonly kind: 'edit' | 'revoke';
      readonly phoneNumberId: string;
      /** Id of the edit or revocation itself. */
      readonly wamid: string;
      readonly originalWamid: string;
      readonly direction: 'inbound' | 'outbound';
      /** The person of the thread, if the network names one. */
      readonly person: NetworkPerson;
      /** Of a message in a group chat. */
      readonly groupId?: string;
      /** From before the number was connected. */
      readonly isPast?: true;
      /** Time of the edit or revocation. */
      readonly at: Date;
      readonly isTimeEstimated?: true;
      /** For an edit: the new message. */
      readonly type: string | undefined;
      readonly text: string | undefined;
      readonly content: unknown;
    }
  | {
      readonly kind: 'call';
      readonly phoneNumberId: string;
      readonly callId: string;
      readonly direction: 'inbound' | 'outbound';
      readonly person: NetworkPerson;
      readonly profileName: string | undefined;
      readonly at: Date;
      readonly isTimeEstimated?: true;
      /** connect, terminate, ringing, accepted, rejected, … in lower case. */
      readonly event: string;
      /** How it ended: completed, failed; in lower case. */
      readonly outcome: string | undefined;
      readonly durationSeconds: number | undefined;
      readonly callbackData: string | undefined;
      /** Without the session description. */
      readonly content: unknown;
    }
  | {
      readonly kind: 'group';
      readonly phoneNumberId: string;
      readonly groupId: string;
      /** `group_create`, `group_participants_add`, …; spellings of the network folded. */
      readonly event: string;
      readonly at: Date;
      readonly subject: string | undefined;
      readonly description: string | undefined;
      readonly inviteLink: string | undefined;
      readonly joinApprovalMode: string | undefined;
      readonly added: readonly NetworkPerson[];
      readonly removed: readonly NetworkPerson[];
    }
  /** The new owner of a thread. */
  | {
      readonly kind: 'handover';
      readonly phoneNumberId: string;
      readonly person: NetworkPerson;
      readonly isOurs: boolean;
      readonly ownerRole: string | undefined;
      readonly previousRole: string | undefined;
      readonly summary: string | undefined;
      readonly at: Date;
    }
  | {
      readonly kind: 'health';
      readonly field: string;
      /** The event in the network's terms; undefined if the field names it. */
      readonly event: string | undefined;
      readonly at: Date;
      /** Whether `at` is the time of arrival. */
      readonly isTimeEstimated?: true;
      readonly patch: HealthPatch;
      /** As the network wrote it. */
      readonly details: unknown;
    }
  /** The portfolio that owns a business account. */
  | { readonly kind: 'portfolio'; readonly wabaId: string; readonly portfolioId: string }
  | {
      readonly kind: 'template';
      readonly wabaId: string;
      readonly name: string;
      /** With an underscore: `en_US`. */
      readonly language: string;
      /** The new value. If none of the three is set, another property changed. */
      readonly status?: { readonly word: string; readonly reason: string | null };
      readonly quality?: string;
      readonly category?: string;
      /** Delivered long after the change: a later one may have arrived before. */
      readonly isLate?: true;
    }
  | {
      /** A person's number or user id changed: both identities are the same person. */
      readonly kind: 'identity_change';
      readonly phoneNumberId: string;
      readonly at: Date;
      readonly before: NetworkPerson;
      readonly after: NetworkPerson;
    }
  | {
      /** A person stops or resumes messages of a category, in the settings of the app. */
      readonly kind: 'preference';
      readonly phoneNumberId: string;
      readonly at: Date;
      readonly person: NetworkPerson;
      readonly category: 'marketing';
      readonly wish: 'stop' | 'resume';
      readonly detail: string | undefined;
    }
  /** A change that cannot be applied, with everything needed to read it again (`raw` is an entry of a webhook if possible). */
  | {
      readonly kind: 'unhandled';
      readonly field: string;
      readonly reason: UnhandledReason;
      readonly raw: unknown;
    };

/** The subject of a change: a number, a display number of a business account, the account, or its portfolio. */
export interface ChangeAddress {
  readonly phoneNumberId: string | undefined;
  readonly wabaId: string | undefined;
  /** Digits. */
  readonly displayPhoneNumber: string | undefined;
  readonly portfolioId: string | undefined;
}

/** One change of a webhook with its updates. */
export interface WebhookChange {
  readonly field: string;
  readonly address: ChangeAddress;
  readonly updates: readonly NetworkUpdate[];
  /** A webhook entry with only this change, or the malformed part. */
  readonly raw: unknown;
}
