import { autoUpdate, computePosition, flip, offset, shift } from '@floating-ui/dom';
import { type ReactNode, useEffect, useId, useLayoutEffect, useRef, useState } from 'react';

export interface MenuItem {
  readonly id: string;
  readonly label: ReactNode;
  readonly isChecked?: boolean;
  /** Stands apart from the items before it. */
  readonly beginsGroup?: boolean;
  readonly onSelect: () => void;
}

interface Props {
  readonly label: string;
  /** Visible text of the button, which is part of its accessible name. */
  readonly text?: string;
  readonly button: ReactNode;
  readonly buttonClass?: string;
  readonly items: readonly MenuItem[];
  /** Opens upwards, for menus at the bottom of the page. */
  readonly isUp?: boolean;
  /** Items beside each other: short ones, such as emojis. */
  readonly isRow?: boolean;
  /** Set to open it from elsewhere, by a key for example. */
  readonly openSignal?: number;
  /** Called each time it opens. */
  readonly onOpen?: () => void;
}

const roleOf = ({ isChecked }: MenuItem) =>
  isChecked === undefined ? { role: 'menuitem' } : { role: 'menuitemradio', 'aria-checked': isChecked };

const isRightToLeft = (): boolean => document.documentElement.dir === 'rtl';
const inlineEnd = (): string => (isRightToLeft() ? 'ArrowLeft' : 'ArrowRight');
const inlineStart = (): string => (isRightToLeft() ? 'ArrowRight' : 'ArrowLeft');

/** In pixels, between a menu and its button or the edge of the page. */
const GAP = 4;

/** Shows a menu over the page, at its button, as a whole; keeps it there while the page scrolls until the answer is called. */
function showAt(button: HTMLElement, menu: HTMLElement, isUp: boolean): () => void {
  menu.showPopover();
  const placement = isUp ? 'top-start' : 'bottom-end';
  const middleware = [offset(GAP), flip(), shift({ padding: GAP })];
  return autoUpdate(button, menu, async () => {
    const { x, y } = await computePosition(button, menu, { placement, strategy: 'fixed', middleware });
    Object.assign(menu.style, { left: `${x}px`, top: `${y}px` });
  });
}

/** A button with a menu, after the pattern of the ARIA authoring practices. */
export function Menu({
  label,
  text,
  button,
  buttonClass = 'button',
  items,
  isUp = false,
  isRow = false,
  openSignal = 0,
  onOpen,
}: Props) {
  const [isOpen, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const opener = useRef<HTMLButtonElement>(null);
  const id = useId();
  const latestOnOpen = useRef(onOpen);
  latestOnOpen.current = onOpen;

  useEffect(() => {
    if (openSignal > 0) setOpen(true);
  }, [openSignal]);
  useEffect(() => {
    if (isOpen) latestOnOpen.current?.();
  }, [isOpen]);
  useLayoutEffect(() => {
    if (!isOpen || !opener.current || !list.current) return;
    return showAt(opener.current, list.current, isUp);
  }, [isOpen, isUp]);
  useEffect(() => {
    if (!isOpen) return;
    const options = list.current?.querySelectorAll<HTMLElement>('[role^=menuitem]');
    const checked = [...(options ?? [])].find(option => option.getAttribute('aria-checked') === 'true');
    (checked ?? options?.[0])?.focus();
    const closeOutside = (event: PointerEvent): void => {
      if (!root.current?.contains(event.target as Node)) setOpen(false);
    };
    document.addEventListener('pointerdown', closeOutside);
    return () => document.removeEventListener('pointerdown', closeOutside);
  }, [isOpen]);

  const close = (): void => {
    setOpen(false);
    opener.current?.focus();
  };
  const move = (step: number): void => {
    const options = [...(list.current?.querySelectorAll<HTMLElement>('[role^=menuitem]') ?? [])];
    const index = options.indexOf(document.activeElement as HTMLElement);
    options[(index + step + options.length) % options.length]?.focus();
  };
  return (
    <div className="menu" ref={root}>
      <button
        ref={opener}
        type="button"
        className={buttonClass}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        aria-label={text === undefined ? label : `${label}: ${text}`}
        title={label}
        onClick={() => setOpen(!isOpen)}
      >
        {button}
      </button>
      {isOpen && (
        <div
          id={id}
          ref={list}
          popover="manual"
          role="menu"
          aria-label={label}
          tabIndex={-1}
          className={isRow ? 'menu-list row' : 'menu-list'}
          onKeyDown={event => {
            if (event.key === 'Escape') close();
            else if (event.key === (isRow ? inlineEnd() : 'ArrowDown')) move(1);
            else if (event.key === (isRow ? inlineStart() : 'ArrowUp')) move(-1);
            else if (event.key !== 'Tab') return;
            else setOpen(false);
            event.stopPropagation();
            if (event.key !== 'Tab') event.preventDefault();
          }}
        >
          {items.map(item => (
            <button
              key={item.id}
              type="button"
              {...roleOf(item)}
              tabIndex={-1}
              className={item.beginsGroup ? 'menu-item begins-group' : 'menu-item'}
              onClick={() => {
                close();
                item.onSelect();
              }}
            >
              {item.label}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}
