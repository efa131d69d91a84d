import { createContext, type ReactNode, use, useCallback, useState, useSyncExternalStore } from 'react';
import type { MediaKind } from '../documents.generated.ts';
import { useAccount } from '../session/account.tsx';

/** A message that the next one quotes. */
export interface Quoted {
  readonly id: string;
  readonly isOurs: boolean;
  readonly text: string;
}

/** A file of a draft. */
export interface Attachment {
  readonly key: string;
  readonly name: string;
  readonly size: number;
  readonly kind: MediaKind;
  /** Of a picture. */
  readonly previewUrl: string | undefined;
  /** 0 to 1. */
  readonly progress: number;
  /** Once it is uploaded. */
  readonly mediaId: string | undefined;
  readonly problem: string | undefined;
}

/** Draft of one conversation, kept while another is open. */
export interface ConversationDraft {
  readonly mode: 'reply' | 'note';
  readonly text: string;
  readonly attachments: readonly Attachment[];
  readonly replyTo: Quoted | undefined;
  /** The last message that the writer knew: what others answered since is shown before the draft is sent. */
  readonly knownId: string | undefined;
  /** Idempotency keys of messages and notes whose answer was lost, by their input: the same input is sent again with its key. */
  readonly unanswered: Readonly<Record<string, string>>;
  /** What is being sent: a page that is loaded again before the gateway has answered has it in the draft. */
  readonly sending: Pick<ConversationDraft, 'mode' | 'text' | 'attachments'> | undefined;
}

type Change = Partial<ConversationDraft> | ((before: ConversationDraft) => Partial<ConversationDraft>);

/** Drafts by conversation: they outlive the thread that shows them, and what is uploaded or sent meanwhile changes them. */
export interface DraftStore {
  of(conversationId: string): ConversationDraft;
  change(conversationId: string, change: Change): void;
  subscribe(listener: () => void): () => void;
}

const EMPTY: ConversationDraft = {
  mode: 'reply',
  text: '',
  attachments: [],
  replyTo: undefined,
  knownId: undefined,
  unanswered: {},
  sending: undefined,
};
const PREFIX = 'parley.drafts.';
const FORGOTTEN = 'parley:drafts-forgotten';

const isEmpty = ({ mode, text, attachments, replyTo, knownId, unanswered, sending }: ConversationDraft): boolean =>
  mode === 'reply' &&
  text === '' &&
  attachments.length === 0 &&
  replyTo === undefined &&
  knownId === undefined &&
  Object.keys(unanswered).length === 0 &&
  sending === undefined;

/** Whether a draft is an answer to the person, and not empty. */
export const isAnswer = ({ mode, text, attachments, replyTo }: ConversationDraft): boolean =>
  mode === 'reply' && (text.trim() !== '' || attachments.length > 0 || replyTo !== undefined);

/** Uploads survive a reload, without the picture of them; what is not uploaded yet does not. */
const storable = ({ attachments, sending, ...draft }: ConversationDraft): ConversationDraft => ({
  ...draft,
  attachments: storableFiles(attachments),
  sending: sending && { ...sending, attachments: storableFiles(sending.attachments) },
});

const storableFiles = (attachments: readonly Attachment[]): Attachment[] =>
  attachments
    .filter(({ mediaId }) => mediaId !== undefined)
    .map(attachment => ({ ...attachment, previewUrl: undefined }));

/** Frees the memory of a picture that is shown no more. */
export const releasePreview = ({ previewUrl }: Attachment): void => {
  if (previewUrl !== undefined) URL.revokeObjectURL(previewUrl);
};

/** A text that was not sent, before what was typed after it. */
const joined = (unsent: string, typed: string): string => [unsent, typed].filter(Boolean).join('\n');

/** A draft with what was being sent. A note stays one, with all that was typed after it: it is never put where it would be sent. */
export const withUnsent = ({ sending, mode, text, attachments, ...draft }: ConversationDraft): ConversationDraft => ({
  ...draft,
  mode: sending?.mode === 'note' ? 'note' : mode,
  text: joined(sending?.text ?? '', text),
  attachments: [...(sending?.attachments ?? []), ...attachments],
  sending: undefined,
});

function stored(key: string): [string, ConversationDraft][] {
  try {
    const drafts = JSON.parse(sessionStorage.getItem(key) ?? '{}') as Record<string, ConversationDraft>;
    return Object.entries(drafts).map(([id, draft]) => [id, withUnsent({ ...EMPTY, ...draft })]);
  } catch {
    return [];
  }
}

function createDrafts(owner: string): DraftStore {
  const key = PREFIX + owner;
  const drafts = new Map(stored(key));
  const listeners = new Set<() => void>();
  const of = (id: string): ConversationDraft => drafts.get(id) ?? EMPTY;
  let isForgotten = false;
  const forget = (): void => {
    isForgotten = true;
    for (const { attachments } of drafts.values()) attachments.forEach(releasePreview);
    drafts.clear();
  };
  window.addEventListener(FORGOTTEN, forget, { once: true });
  return {
    of,
    change(id, change) {
      if (isForgotten) return;
      const before = of(id);
      const next = { ...before, ...(typeof change === 'function' ? change(before) : change) };
      if (isEmpty(next)) drafts.delete(id);
      else drafts.set(id, next);
      const kept = Object.fromEntries([...drafts].map(([each, draft]) => [each, storable(draft)]));
      try {
        sessionStorage.setItem(key, JSON.stringify(kept));
      } catch {
        // No space, or storage is switched off: drafts live as long as the page.
      }
      for (const listener of listeners) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** Empties the drafts of this tab for good: an upload or a send that ends after its writer has signed out keeps nothing. */
export const forgetDrafts = (): void => void window.dispatchEvent(new Event(FORGOTTEN));

const DraftsContext = createContext<DraftStore | undefined>(undefined);

/**
 * Keeps the drafts of who is signed in, through a reload of the tab, too. Tokens of one account share those of a tab: a token that expires
 * while something is being written is replaced by another one. A sign-out forgets them.
 */
export function DraftsProvider({ children }: { readonly children: ReactNode }) {
  const { viewer, tenant, can } = useAccount();
  const [drafts] = useState(() =>
    createDrafts(viewer.staffMember?.id ?? (can('ACCOUNT_READ') ? `account.${tenant}` : viewer.token.id)),
  );
  return <DraftsContext value={drafts}>{children}</DraftsContext>;
}

export function useDrafts(): DraftStore {
  const drafts = use(DraftsContext);
  if (!drafts) throw new Error('There are no drafts above this component.');
  return drafts;
}

/** The draft of a conversation, as it changes. */
export function useConversationDraft(conversationId: string): readonly [ConversationDraft, (change: Change) => void] {
  const drafts = useDrafts();
  const draft = useSyncExternalStore(drafts.subscribe, () => drafts.of(conversationId));
  const change = useCallback((next: Change) => drafts.change(conversationId, next), [drafts, conversationId]);
  return [draft, change];
}
