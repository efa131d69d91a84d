import { useEffect, useRef } from 'react';
import type { TextKey } from '../texts/texts.tsx';
import { useTexts } from '../texts/texts.tsx';
import { Dialog } from '../ui/dialog.tsx';

/** Commands of keyboard shortcuts; the thread listens for those of a conversation. */
export type InboxCommand = 'assign' | 'close' | 'reply' | 'note';

const COMMANDS: Readonly<Record<string, InboxCommand>> = { a: 'assign', e: 'close', r: 'reply', n: 'note' };
const EVENT = 'parley:inbox-command';

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

interface ListCommands {
  readonly step: (by: 1 | -1) => void;
  readonly help: () => void;
}

/** The keys of the inbox, which mean nothing while somebody types. */
export function useInboxKeys({ step, help }: ListCommands): void {
  const latest = useRef({ step, help });
  latest.current = { step, help };
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (
        event.ctrlKey ||
        event.metaKey ||
        event.altKey ||
        isTyping(event.target) ||
        document.querySelector('dialog[open]')
      )
        return;
      const command = COMMANDS[event.key];
      if (event.key === 'j') latest.current.step(1);
      else if (event.key === 'k') latest.current.step(-1);
      else if (event.key === '/') document.getElementById('inbox-search')?.focus();
      else if (event.key === '?') latest.current.help();
      else if (command) window.dispatchEvent(new CustomEvent(EVENT, { detail: command }));
      else return;
      event.preventDefault();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
}

export function useInboxCommand(run: (command: InboxCommand) => void): void {
  const latest = useRef(run);
  latest.current = run;
  useEffect(() => {
    const listen = (event: Event): void => latest.current((event as CustomEvent<InboxCommand>).detail);
    window.addEventListener(EVENT, listen);
    return () => window.removeEventListener(EVENT, listen);
  }, []);
}

const KEYS: readonly (readonly [key: string, text: TextKey])[] = [
  ['j', 'keys.next'],
  ['k', 'keys.previous'],
  ['/', 'keys.search'],
  ['a', 'keys.assign'],
  ['e', 'keys.close'],
  ['r', 'keys.reply'],
  ['n', 'keys.note'],
  ['?', 'keys.help'],
];

export function Shortcuts({ onClose }: { readonly onClose: () => void }) {
  const { t } = useTexts();
  return (
    <Dialog title={t('keys.title')} onClose={onClose}>
      <dl className="keys">
        {KEYS.map(([key, text]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{t(text)}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
