import { Fragment, type ReactNode, useEffect, useRef } from 'react';
import { Link, useLocation } from 'wouter';
import type { Scope } from '../documents.generated.ts';
import { PresenceBeacon } from '../presence/presence-beacon.tsx';
import { useAccount } from '../session/account.tsx';
import type { TextKey } from '../texts/texts.tsx';
import { useTexts } from '../texts/texts.tsx';
import { Empty } from '../ui/empty.tsx';
import { Icon, type IconName } from '../ui/icon.tsx';
import { Logo } from '../ui/logo.tsx';
import { Page } from '../ui/page.tsx';
import { AccountMenu } from './account-menu.tsx';

interface PageEntry {
  readonly path: string;
  readonly label: TextKey;
  readonly icon: IconName;
  readonly scopes: readonly Scope[];
}

/** Pages in the order of the navigation, with the scopes without which they are not offered. */
const PAGES: readonly PageEntry[] = [
  { path: '/inbox', label: 'nav.inbox', icon: 'inbox', scopes: ['CONVERSATIONS_READ', 'MESSAGES_READ'] },
  { path: '/live', label: 'nav.live', icon: 'live', scopes: ['EVENTS_READ'] },
  { path: '/contacts', label: 'nav.contacts', icon: 'contacts', scopes: ['CONTACTS_READ'] },
  { path: '/campaigns', label: 'nav.campaigns', icon: 'campaigns', scopes: ['CAMPAIGNS_READ'] },
  { path: '/templates', label: 'nav.templates', icon: 'templates', scopes: ['TEMPLATES_READ'] },
  { path: '/bots', label: 'nav.bots', icon: 'bots', scopes: ['BOTS_READ'] },
  { path: '/webhooks', label: 'nav.webhooks', icon: 'webhooks', scopes: ['WEBHOOKS_READ'] },
  { path: '/shops', label: 'nav.shops', icon: 'integrations', scopes: ['INTEGRATIONS_READ'] },
  { path: '/staff', label: 'nav.staff', icon: 'contacts', scopes: ['STAFF_READ'] },
  { path: '/tokens', label: 'nav.tokens', icon: 'tokens', scopes: ['TOKENS_READ'] },
  { path: '/channels', label: 'nav.channels', icon: 'channels', scopes: ['CHANNELS_READ'] },
  { path: '/usage', label: 'nav.usage', icon: 'usage', scopes: ['ACCOUNT_READ'] },
  { path: '/phone', label: 'nav.phone', icon: 'phone', scopes: ['CONTACTS_READ'] },
];

export function Shell({ children }: { readonly children: ReactNode }) {
  const { t } = useTexts();
  const { can, accountName, hasEmulator, narrowings } = useAccount();
  const [location] = useLocation();
  const open = PAGES.find(({ path }) => location.startsWith(path));
  const pages = useRef<HTMLUListElement>(null);
  // On a narrow screen the navigation scrolls: the page that is shown is in view.
  useEffect(() => {
    if (location !== '')
      pages.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [location]);
  return (
    <div className="shell">
      <PresenceBeacon />
      <nav className="nav" aria-label={t('nav.label')}>
        <div className="nav-head">
          <Logo />
          <span className="nav-tenant">{accountName}</span>
        </div>
        <ul className="nav-pages" ref={pages}>
          {PAGES.filter(({ scopes, path }) => can(...scopes) && (hasEmulator || path !== '/phone')).map(
            ({ path, label, icon }) => (
              <li key={path}>
                <Link href={path} className="nav-link" aria-current={location.startsWith(path) ? 'page' : undefined}>
                  <Icon name={icon} />
                  <span>{t(label)}</span>
                </Link>
              </li>
            ),
          )}
        </ul>
        <div className="nav-foot">
          <AccountMenu />
        </div>
      </nav>
      {open === undefined || can(...open.scopes) ? (
        // After the loss of a scope a page begins anew: what it has read before is not shown.
        <Fragment key={narrowings}>{children}</Fragment>
      ) : (
        <Page title={t(open.label)}>
          <Empty title={t('noPermissionTitle')} text={t('noPermission')} />
        </Page>
      )}
    </div>
  );
}
