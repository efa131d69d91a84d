import { DOCUMENT_IDS } from 'virtual:documents';
import { createClient, type ParleyClient, type Token } from '../../client/client.ts';
import { isRefusal, unauthorized } from '../../client/token.ts';
import {
  AccountNameDocument,
  CreateDashboardTokenDocument,
  CreateStaffSessionDocument,
  RevokeDashboardTokenDocument,
  ViewerDocument,
} from '../documents.generated.ts';
import { forgetDrafts } from '../inbox/draft-store.tsx';
import { compareClock, presentTime } from '../ui/now.ts';

/** Session, as stored by the browser. */
export interface Session {
  readonly token: string;
  /** The staff member as whom the page acts; undefined: as the token itself. */
  readonly staffId?: string;
  /** Whether a link gave the token to this browser, so that nobody else uses it. */
  readonly isOwn?: boolean;
}

const KEY = 'parley.session';

/** The documents of this build, which the gateway accepts by their ids. */
const documentId = (operationName: string): string | undefined => DOCUMENT_IDS[operationName];

const fetchWithClock: typeof fetch = async (input, init) => {
  const answer = await fetch(input, init);
  compareClock(answer.headers.get('date'));
  return answer;
};

/** Options of every client of the page. */
const OPTIONS = { url: location.origin, documentId, fetch: fetchWithClock };

const LINK = /^#sign-in=(ply_\w+)$/;
const LINK_DAYS = 30;

/** The session of this browser, with the staff member that this tab has chosen: other tabs may act as other people. */
export function storedSession(): Session | undefined {
  const [shared, own] = [read(localStorage), read(sessionStorage)];
  return shared && own?.token === shared.token ? own : shared;
}

function read(storage: Storage): Session | undefined {
  try {
    const value: unknown = JSON.parse(storage.getItem(KEY) ?? 'null');
    return typeof value === 'object' && value !== null && 'token' in value ? (value as Session) : undefined;
  } catch {
    return undefined;
  }
}

/** New tabs begin with the session that was stored last. */
export function storeSession(session: Session): void {
  for (const storage of [localStorage, sessionStorage]) storage.setItem(KEY, JSON.stringify(session));
}

/** Replaces a session that was given up. It is not removed, because a removal signs out other tabs. */
const GIVEN_UP = 'null';

/**
 * Forgets a session that the gateway refuses. Other tabs may act as another person or with another token: they find out by themselves
 * whether the gateway refuses theirs.
 */
export function giveUpSession({ token, staffId }: Session): void {
  for (const storage of [localStorage, sessionStorage]) {
    const stored = read(storage);
    if (stored?.token === token && stored.staffId === staffId) storage.setItem(KEY, GIVEN_UP);
  }
}

/** Stored settings that stay after a sign-out, because they contain nothing about the person or the account. */
const KEPT: ReadonlySet<string> = new Set(['parley.language', 'parley.theme']);

/** Signs this browser out: removes the session, drafts, and what else the page has stored. Other tabs notice. */
export function forgetSession(): void {
  forgetDrafts();
  for (const storage of [localStorage, sessionStorage])
    for (const key of Object.keys(storage)) if (key.startsWith('parley.') && !KEPT.has(key)) storage.removeItem(key);
}

interface OtherTabs {
  /** Another tab signs this browser out. */
  onForgotten(): void;
  /** Another tab had to give up the session with which new tabs begin. */
  onGivenUp(): void;
}

/** Listens for sign-outs of other tabs. @returns a function that stops listening */
export function onOtherTabs({ onForgotten, onGivenUp }: OtherTabs): () => void {
  const listen = ({ key, newValue }: StorageEvent): void => {
    if ((key === KEY || key === null) && newValue === null) onForgotten();
    if (key === KEY && newValue === GIVEN_UP) onGivenUp();
  };
  window.addEventListener('storage', listen);
  return () => window.removeEventListener('storage', listen);
}

/** Revokes the token if it belongs to this browser alone. A token that was typed in may be used elsewhere, and stays. */
export async function revokeOwnToken({ token, isOwn = false }: Session): Promise<void> {
  if (!isOwn) return;
  const client = createClient({ ...OPTIONS, token });
  const { viewer } = await client.query(ViewerDocument, {});
  if (viewer) await client.mutate(RevokeDashboardTokenDocument, { input: { id: viewer.token.id } });
}

interface ClientListener {
  onConnection(state: 'connected' | 'closed'): void;
  /** A staff session was replaced by another one, which may have the scopes of another role. */
  onRenewed(): void;
}

/** Opens a client for a session. A staff session is renewed with the access token that created it. */
export function openClient({ token, staffId }: Session, { onConnection, onRenewed }: ClientListener): ParleyClient {
  const options = { ...OPTIONS, onConnection };
  if (staffId === undefined) return createClient({ ...options, token });
  const owner = createClient({ ...OPTIONS, token });
  let isFirst = true;
  return createClient({
    ...options,
    token: async () => {
      const session = await staffSession(owner, staffId);
      if (!isFirst) onRenewed();
      isFirst = false;
      return session;
    },
  });
}

async function staffSession(owner: ParleyClient, staffId: string): Promise<Token> {
  const input = { staffMember: { id: staffId }, origins: [location.origin], documentsOnly: true, callsPerMinute: 600 };
  const { createStaffSession: payload } = await owner.mutate(CreateStaffSessionDocument, { input });
  // The person was removed, for example: nobody acts as them any more.
  if (!payload?.token) throw unauthorized(payload?.userErrors[0]?.message ?? 'There is no such staff member.');
  return { token: payload.token, expiresAtMs: payload.expiresAt ? Date.parse(payload.expiresAt) : undefined };
}

/** Takes the token of a sign-in link out of the address bar. */
export function takeLinkToken(): string | undefined {
  const token = LINK.exec(location.hash)?.[1];
  if (token !== undefined) history.replaceState(null, '', location.pathname + location.search);
  return token;
}

/** Names of two accounts: the one to which a link leads, and the one that it would replace in this browser. */
export interface AccountChange {
  readonly next: string;
  readonly present: string;
}

/**
 * Tells whether a link would replace the session of another account: an attacker may have sent the link, so that the reader works in the
 * attacker's account.
 * @returns undefined for the same account, or if the link was used or the session has ended
 */
export async function accountChange(linkToken: string, session: Session): Promise<AccountChange | undefined> {
  const [next, present] = await Promise.all([linkToken, session.token].map(accountOf));
  if (!next || !present || (next.tenant !== undefined && next.tenant === present.tenant)) return undefined;
  return { next: next.name, present: present.name };
}

interface NamedAccount {
  /** Undefined: the token may not read it. */
  readonly tenant: string | undefined;
  readonly name: string;
}

/** @returns undefined or null if the gateway refuses the token */
async function accountOf(token: string): Promise<NamedAccount | null | undefined> {
  const client = createClient({ ...OPTIONS, token });
  try {
    const { viewer } = await client.query(ViewerDocument, {});
    if (!viewer?.scopes.includes('ACCOUNT_READ')) return viewer && { tenant: undefined, name: viewer.token.name };
    const { account } = await client.query(AccountNameDocument, {});
    return account && { tenant: account.subdomain, name: account.name };
  } catch (error) {
    if (isRefusal(error)) return undefined;
    throw error;
  }
}

/**
 * Signs in with the token of a link. The link works once: its token is replaced by one of this browser, and revoked.
 * @throws ParleyError for a link that was used already
 */
export async function redeemLink(linkToken: string): Promise<Session> {
  const client = createClient({ ...OPTIONS, token: linkToken });
  const { viewer } = await client.query(ViewerDocument, {});
  if (!viewer?.scopes.includes('TOKENS_WRITE')) return { token: linkToken };
  const lasts = new Date(presentTime() + LINK_DAYS * 86_400_000).toISOString();
  const input = {
    name: `Dashboard in ${browserName()}`,
    scopes: viewer.scopes,
    expiresAt: viewer.expiresAt ?? lasts,
    callsPerMinute: viewer.callsPerMinute,
  };
  const { createAccessToken: created } = await client.mutate(CreateDashboardTokenDocument, { input });
  if (!created?.token) return { token: linkToken };
  await client.mutate(RevokeDashboardTokenDocument, { input: { id: viewer.token.id } });
  return { token: created.token, isOwn: true };
}

const browserName = (): string =>
  ['Firefox', 'Edg', 'Chrome', 'Safari'].find(name => navigator.userAgent.includes(name))?.replace('Edg', 'Edge') ??
  'a browser';
