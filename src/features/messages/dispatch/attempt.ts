import type {
  ChannelCredentials,
  NetworkError,
  NetworkPerson,
  OutgoingContent,
  OutgoingType,
  SendOutcome,
} from '../../../network/network.ts';
import { asList, type JsonObject } from '../../../platform/json.ts';
import type { Resources } from '../../../schema/context.ts';
import type { DeadCode } from '../../otp/otp.ts';
import { OPTED_OUT } from '../send/outcome.ts';
import type { ConsentedCategory } from '../send/recipient.sql.ts';
import { personInResponse } from '../statuses/new-identity.ts';
import { decideNextStep, type NextStep } from './decide-next-step.ts';
import type { Claimed } from './outbox.sql.ts';

/** An attempt's next step: with the person in the response if sent, with the error and its doubt if retried. */
export type Attempted =
  | { readonly kind: 'withheld' }
  | Exclude<NextStep, { kind: 'retry' | 'sent' }>
  | (Extract<NextStep, { kind: 'sent' }> & { readonly person: NetworkPerson | undefined })
  | (Extract<NextStep, { kind: 'retry' }> & { readonly reason: string; readonly inDoubt: boolean });

/** Reasons not to send a claimed message that the claim itself does not contain. */
export interface Hindrance {
  /** The message's category, if the contact has opted out of it. */
  readonly optedOutCategory?: ConsentedCategory | undefined;
  /** The state of its one-time code, if the code no longer verifies anything or is for another number. */
  readonly endedCode?: DeadCode | undefined;
}

/**
 * Submits a message to the network, unless it may no longer be sent.
 * @param hindrance what was found about the message after it was claimed
 * @param mayCall checked immediately before the request is written
 */
export async function attempt(
  { network, config, metrics, secrets }: Pick<Resources, 'network' | 'config' | 'metrics' | 'secrets'>,
  credentials: ChannelCredentials,
  message: Claimed,
  hindrance: Hindrance,
  mayCall: () => boolean,
): Promise<Attempted> {
  const ownRefusal = localRefusal(message, hindrance, config.otp.toOptedOut);
  const outcome = ownRefusal
    ? ({ kind: 'refused', error: ownRefusal } as const)
    : await network.send(
        credentials,
        {
          callbackData: message.message_id,
          to: message.phone ?? message.user_id ?? '',
          content: contentOf(message, secrets),
          // A reaction names its message in its content.
          ...(message.reply_to_wamid !== null && message.type !== 'reaction' && { replyTo: message.reply_to_wamid }),
        },
        mayCall,
      );
  if (outcome.kind === 'withheld') return { kind: 'withheld' };
  metrics.messageAttempts.inc({ outcome: outcome.kind });
  const step = decideNextStep(outcome, {
    number: message.attempts,
    ageMs: message.age_ms,
    reconcileMs: config.network.reconcileMs,
    jitter: Math.random(),
  });
  if (step.kind === 'sent') return { ...step, person: personInResponse(message.phone, outcome) };
  if (step.kind !== 'retry') return step;
  return { ...step, reason: reasonOf(outcome), inDoubt: outcome.kind === 'in_doubt' };
}

function reasonOf(outcome: SendOutcome): string {
  if (outcome.kind === 'refused') return `${outcome.error.code} ${outcome.error.title}`.trim();
  return 'reason' in outcome ? outcome.reason : outcome.kind;
}

function contentOf(message: Claimed, secrets: Resources['secrets']): OutgoingContent {
  const type = message.type as OutgoingType;
  if (type === 'text') return { type, text: message.body ?? '', previewUrl: message.content['preview_url'] === true };
  if (type === 'contacts') return { type, cards: asList(message.content['value']) };
  const content = message.sealed ? (JSON.parse(secrets.open(message.sealed)) as JsonObject) : message.content;
  // The rendered template is for people; the network rejects unknown properties.
  const { rendered: _rendered, ...object } = content;
  return { type, object };
}

type Refusal = Pick<NetworkError, 'code' | 'title' | 'details' | 'retryClass'>;

const refusal = (title: string, details: string): Refusal => ({ code: 0, title, details, retryClass: 'no_retry' });

/**
 * Why an accepted message may no longer be sent; undefined if it may.
 * @param codesToOptedOut whether one-time codes also go to contacts who opted out
 */
function localRefusal(
  message: Pick<Claimed, 'sealed' | 'opted_out_at' | 'phone' | 'user_id'>,
  { optedOutCategory, endedCode }: Hindrance,
  codesToOptedOut: boolean,
): Refusal | undefined {
  if (endedCode !== undefined) return codeRefusal(endedCode);
  // Only authentication templates are sealed.
  const mayBeOptedOut = codesToOptedOut && message.sealed !== null;
  if (message.opted_out_at !== null && !mayBeOptedOut)
    return refusal(OPTED_OUT, 'The contact asked not to be messaged after this message was accepted.');
  if (optedOutCategory !== undefined)
    return refusal(
      OPTED_OUT,
      `The contact asked not to get ${optedOutCategory} messages after this message was accepted.`,
    );
  if (message.phone === null && message.user_id === null)
    return refusal(
      'No phone number',
      'The contact has no phone number any more, and no user id in the portfolio of the channel.',
    );
  return undefined;
}

/** Each send is charged, and a code that verifies nothing would only mislead. */
function codeRefusal(state: DeadCode): Refusal {
  switch (state) {
    case 'expired':
      return refusal('Code expired', 'The one-time code expired before the network accepted its message.');
    case 'replaced':
      return refusal(
        'Code replaced',
        'A later one-time code replaced this one before the network accepted its message.',
      );
    case 'moved':
      return refusal(
        'Code for another number',
        'The contact got another phone number before the network accepted the message: the code proves the former one.',
      );
    case 'verified':
    case 'exhausted':
    case 'failed':
      return refusal('Code ended', `The one-time code was ${state} before the network accepted its message.`);
  }
}
