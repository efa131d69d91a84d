import { type ReactNode, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { Provider } from 'urql';
import { type ParleyClient, ParleyError } from '../../client/client.ts';
import { isRefusal } from '../../client/token.ts';
import { createGraphql, OTHER_VERSION } from '../api/graphql.ts';
import {
  AccountNameDocument,
  SandboxChannelsDocument,
  type Scope,
  StaffMembersDocument,
  ViewerDocument,
} from '../documents.generated.ts';
import { createEmulator } from '../phone/emulator.ts';
import { type Fault, requestFault } from '../texts/faults.ts';
import { useTexts } from '../texts/texts.tsx';
import { type Account, AccountContext } from './account.tsx';
import { ConnectionContext } from './connection.ts';
import { LinkQuestion } from './link-question.tsx';
import { Outdated } from './outdated.tsx';
import {
  type AccountChange,
  accountChange,
  forgetSession,
  giveUpSession,
  onOtherTabs,
  openClient,
  redeemLink,
  revokeOwnToken,
  type Session,
  storedSession,
  storeSession,
  takeLinkToken,
} from './session.ts';
import { SignIn } from './sign-in.tsx';

type Opened = Pick<
  Account,
  'client' | 'token' | 'viewer' | 'accountName' | 'tenant' | 'staff' | 'hasEmulator' | 'narrowings'
>;
type State =
  | { readonly step: 'opening'; readonly session: Session }
  | { readonly step: 'comparing'; readonly linkToken: string; readonly session: Session }
  | { readonly step: 'asking'; readonly linkToken: string; readonly session: Session; readonly change: AccountChange }
  | { readonly step: 'redeeming'; readonly linkToken: string }
  | { readonly step: 'signed-out'; readonly problem?: Fault; readonly isLinkUsed?: boolean }
  | { readonly step: 'open'; readonly session: Session; readonly opened: Opened };

/** Minimum time between two checks of a refused session. */
const REOPEN_EVERY_MS = 60_000;

/** The link's token is taken once, when the page loads: React may call an initializer twice. */
const linkToken = takeLinkToken();

function firstState(): State {
  const session = storedSession();
  if (linkToken !== undefined)
    return session ? { step: 'comparing', linkToken, session } : { step: 'redeeming', linkToken };
  return session ? { step: 'opening', session } : { step: 'signed-out' };
}

/** Shows the page if a session is open, otherwise the sign-in form. */
export function SessionGate({ children }: { readonly children: ReactNode }) {
  const { t, faultText } = useTexts();
  const wording = useRef(faultText);
  useEffect(() => {
    wording.current = faultText;
  }, [faultText]);
  const [state, setState] = useState<State>(firstState);
  const [isConnected, setConnected] = useState(true);
  const [isOutdated, setOutdated] = useState(false);
  const take = useCallback((client: ParleyClient, read: Partial<Opened>) => {
    setState(before =>
      before.step === 'open' && before.opened.client === client
        ? { ...before, opened: { ...before.opened, ...read, narrowings: narrowingsAfter(before.opened, read) } }
        : before,
    );
  }, []);

  useEffect(() => {
    let isCurrent = true;
    const proceed = (next: State): void => {
      if (isCurrent) setState(next);
    };
    if (state.step === 'comparing') {
      const { linkToken, session } = state;
      accountChange(linkToken, session).then(
        change => proceed(change ? { step: 'asking', linkToken, session, change } : { step: 'redeeming', linkToken }),
        (error: unknown) => proceed({ step: 'signed-out', problem: requestFault(error) }),
      );
    }
    if (state.step === 'redeeming')
      redeemLink(state.linkToken).then(
        session => proceed({ step: 'opening', session }),
        // The link was used already, usually by this browser.
        (error: unknown) => {
          const session = storedSession();
          const isLinkUsed = error instanceof ParleyError && error.code === 'UNAUTHORIZED';
          proceed(
            session ? { step: 'opening', session } : { step: 'signed-out', problem: requestFault(error), isLinkUsed },
          );
        },
      );
    if (state.step === 'opening')
      open(
        state.session,
        up => setConnected(up === 'connected'),
        (client, viewer) => take(client, { viewer }),
      ).then(
        opened => {
          if (isCurrent) storeSession(state.session);
          proceed({ step: 'open', session: state.session, opened });
        },
        (error: unknown) => {
          // While the gateway is unavailable or being upgraded, the session is kept: the token of a link is shown nowhere else.
          if (isCurrent && isRefusal(error) && error.code !== OTHER_VERSION) giveUpSession(state.session);
          proceed({ step: 'signed-out', problem: requestFault(error) });
        },
      );
    return () => {
      isCurrent = false;
    };
  }, [state, take]);

  const session = state.step === 'open' ? state.session : undefined;
  const actAs = useCallback(
    (staffId: string | undefined) => {
      if (!session) return;
      const { staffId: _before, ...asToken } = session;
      setState({ step: 'opening', session: staffId === undefined ? asToken : { ...asToken, staffId } });
    },
    [session],
  );
  const opened = state.step === 'open' ? state.opened : undefined;
  const client = opened?.client;
  const leave = useCallback((client: ParleyClient | undefined) => {
    forgetSession();
    void client?.close();
    // The URL contains the ids of what was open.
    history.replaceState(null, '', '/');
    setState({ step: 'signed-out' });
  }, []);
  useEffect(
    () =>
      onOtherTabs({
        onForgotten: () => leave(client),
        onGivenUp: () => session && storeSession(session),
      }),
    [leave, client, session],
  );
  // The gateway refused the session: check it once more, and show nothing of the account meanwhile.
  const reopenedAt = useRef(Number.NEGATIVE_INFINITY);
  const reopen = useCallback(() => {
    // If only some requests are refused, by a proxy for example, the checks would never end: show the errors instead.
    if (performance.now() - reopenedAt.current < REOPEN_EVERY_MS) return;
    reopenedAt.current = performance.now();
    setState(before => (before.step === 'open' ? { step: 'opening', session: before.session } : before));
  }, []);
  const account = useMemo<Account | undefined>(() => {
    if (!opened) return undefined;
    const scopes = new Set(opened.viewer.scopes);
    return {
      ...opened,
      can: (...wanted) => wanted.every(scope => scopes.has(scope)),
      actAs,
      // If it fails, the list that was read before stays.
      readStaff: () =>
        void staffOf(opened.client, opened.viewer).then(
          staff => take(opened.client, { staff }),
          () => undefined,
        ),
      signOut() {
        leave(opened.client);
        // If the gateway cannot be reached, the token expires by itself.
        if (session) revokeOwnToken(session).catch(() => undefined);
      },
    };
  }, [opened, session, actAs, leave, take]);
  // A change of the language keeps the client and its cache; the loss of a scope does not.
  const narrowings = opened?.narrowings ?? 0;
  const graphql = useMemo(
    () =>
      client && narrowings >= 0
        ? createGraphql(client, {
            textOf: fault => wording.current(fault),
            onUnauthorized: reopen,
            onOutdated: () => setOutdated(true),
          })
        : undefined,
    [client, narrowings, reopen],
  );

  if (account && graphql && opened)
    return (
      <AccountContext value={account}>
        <Provider value={graphql}>
          <ConnectionContext value={isConnected}>{children}</ConnectionContext>
          {isOutdated && <Outdated />}
        </Provider>
      </AccountContext>
    );
  if (state.step === 'asking') {
    const { change, linkToken, session } = state;
    return (
      <LinkQuestion
        change={change}
        onAccept={() => setState({ step: 'redeeming', linkToken })}
        onRefuse={() => setState({ step: 'opening', session })}
      />
    );
  }
  const textOf = (fault: Fault): string => (fault.code === OTHER_VERSION ? t('outdated') : faultText(fault));
  if (state.step === 'signed-out')
    return (
      <SignIn
        problem={state.isLinkUsed ? t('signIn.linkUsed') : state.problem && textOf(state.problem)}
        onToken={each => setState({ step: 'opening', session: { token: each } })}
      />
    );
  return <div className="page-loading" aria-busy="true" />;
}

/** @param onViewer called with the viewer after each renewal of the session: their role may have changed */
async function open(
  session: Session,
  onConnection: (state: 'connected' | 'closed') => void,
  onViewer: (client: ParleyClient, viewer: Opened['viewer']) => void,
): Promise<Opened> {
  const client = openClient(session, {
    onConnection,
    // If it fails, the next renewal reads the viewer again.
    onRenewed: () =>
      void viewerOf(client).then(
        viewer => onViewer(client, viewer),
        () => undefined,
      ),
  });
  const viewer = await viewerOf(client);
  const may = (scope: Scope): boolean => viewer.scopes.includes(scope);
  const [name, staff, channels] = await Promise.all([
    may('ACCOUNT_READ') ? client.query(AccountNameDocument, {}) : undefined,
    staffOf(client, viewer),
    may('CHANNELS_READ') ? client.query(SandboxChannelsDocument, {}) : undefined,
  ]);
  return {
    client,
    token: session.token,
    viewer,
    accountName: name?.account?.name ?? '',
    tenant: name?.account?.subdomain ?? '$TENANT',
    staff,
    narrowings: 0,
    hasEmulator:
      (channels?.channels?.nodes.some(({ isSandbox }) => isSandbox) ?? false) &&
      (await createEmulator(session.token).isThere()),
  };
}

async function staffOf(client: ParleyClient, { scopes }: Opened['viewer']): Promise<Opened['staff']> {
  if (!scopes.includes('STAFF_READ')) return [];
  const staff: Opened['staff'][number][] = [];
  for (let after: string | null | undefined; after !== null; ) {
    const { staffMembers } = await client.query(StaffMembersDocument, { after });
    staff.push(...(staffMembers?.nodes ?? []));
    after = staffMembers?.pageInfo.hasNextPage ? staffMembers.pageInfo.endCursor : null;
  }
  return staff;
}

const narrowingsAfter = ({ narrowings, viewer }: Opened, { viewer: next = viewer }: Partial<Opened>): number =>
  viewer.scopes.every(scope => next.scopes.includes(scope)) ? narrowings : narrowings + 1;

async function viewerOf(client: ParleyClient): Promise<Opened['viewer']> {
  const { viewer } = await client.query(ViewerDocument, {});
  if (!viewer) throw new ParleyError([]);
  return viewer;
}
