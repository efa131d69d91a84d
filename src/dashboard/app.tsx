import { lazy, Suspense } from 'react';
import { Redirect, Route, Switch, useLocation } from 'wouter';
import { DraftsProvider } from './inbox/draft-store.tsx';
import { Inbox } from './inbox/inbox.tsx';
import { Shell } from './layout/shell.tsx';
import { Phones } from './phone/phones.tsx';
import { SessionGate } from './session/session-gate.tsx';
import { TextProvider } from './texts/texts.tsx';
import { LoadBoundary } from './ui/load-boundary.tsx';

/** Pages beside the inbox are loaded when they are opened. */
const Contacts = lazy(() => import('./contacts/contacts.tsx'));
const Live = lazy(() => import('./live/live.tsx'));
const Campaigns = lazy(() => import('./campaigns/campaigns.tsx'));
const Templates = lazy(() => import('./templates/templates.tsx'));
const Bots = lazy(() => import('./bots/bots.tsx'));
const Webhooks = lazy(() => import('./webhooks/webhooks.tsx'));
const Shops = lazy(() => import('./shops/shops.tsx'));
const Staff = lazy(() => import('./staff/staff.tsx'));
const Tokens = lazy(() => import('./tokens/tokens.tsx'));
const Channels = lazy(() => import('./channels/channels.tsx'));
const Usage = lazy(() => import('./usage/usage.tsx'));

export const App = () => (
  <TextProvider>
    <SessionGate>
      <DraftsProvider>
        <Shell>
          <Pages />
        </Shell>
      </DraftsProvider>
    </SessionGate>
  </TextProvider>
);

function Pages() {
  const [location] = useLocation();
  return (
    <LoadBoundary place={location.split('/')[1] ?? ''}>
      <Suspense fallback={<main className="page" aria-busy="true" />}>
        <Switch>
          <Route path="/inbox/:id?">{({ id }) => <Inbox conversationKey={id} />}</Route>
          <Route path="/phone" component={Phones} />
          <Route path="/contacts/:id?">{({ id }) => <Contacts id={id} />}</Route>
          <Route path="/live" component={Live} />
          <Route path="/campaigns/*?">{() => <Campaigns />}</Route>
          <Route path="/templates" component={Templates} />
          <Route path="/bots" component={Bots} />
          <Route path="/webhooks" component={Webhooks} />
          <Route path="/shops" component={Shops} />
          <Route path="/staff" component={Staff} />
          <Route path="/tokens" component={Tokens} />
          <Route path="/channels" component={Channels} />
          <Route path="/usage" component={Usage} />
          <Route>
            <Redirect to="/inbox" replace />
          </Route>
        </Switch>
      </Suspense>
    </LoadBoundary>
  );
}
