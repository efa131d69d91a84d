import type { ReactNode } from 'react';

interface Props {
  readonly label: string;
  readonly className?: string;
  readonly children: ReactNode;
}

/** A table that may be wider than its place. It takes the focus, because a keyboard scrolls only what has it. */
export const TableBox = ({ label, className = '', children }: Props) => (
  // biome-ignore lint/a11y/useSemanticElements: no landmark, because what is around it is one of the same name, and no fieldset
  // biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table is scrolled with the keyboard
  <div className={`table-box ${className}`.trim()} role="group" aria-label={label} tabIndex={0}>
    {children}
  </div>
);
