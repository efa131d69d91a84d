import type { ReactNode } from 'react';
import { SCROLLABLE } from './scrollable.ts';

interface Props {
  readonly title: string;
  readonly lead?: ReactNode;
  /** Above the title: the way back. */
  readonly above?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
  /** The content takes the height that is left, and scrolls within itself. */
  readonly isFilled?: boolean;
}

export const Page = ({ title, lead, above, actions, children, isFilled = false }: Props) => (
  <main className={isFilled ? 'page filled' : 'page'} {...(isFilled ? {} : SCROLLABLE)}>
    <header className="page-head">
      <div className="page-title">
        {above}
        <h1>{title}</h1>
        {lead !== undefined && <div className="muted page-lead">{lead}</div>}
      </div>
      {actions && <div className="page-actions">{actions}</div>}
    </header>
    {children}
  </main>
);
