import type { ReactNode } from 'react';
import { Examples } from './example.tsx';
import type { ExampleName } from './examples.ts';

interface Props {
  readonly title: string;
  readonly text?: string;
  readonly action?: ReactNode;
  /** Ways to do it outside of the page, which work for this account as they stand. */
  readonly example?: ExampleName;
}

/** A page without data: what to do first. */
export const Empty = ({ title, text, action, example }: Props) => (
  <div className="empty">
    <h2>{title}</h2>
    {text !== undefined && <p>{text}</p>}
    {action}
    {example !== undefined && <Examples name={example} />}
  </div>
);
