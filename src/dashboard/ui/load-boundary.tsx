import { Component, type ReactNode } from 'react';
import { useTexts } from '../texts/texts.tsx';

interface Props {
  /** A change resets the boundary: the failure of one page does not concern another. */
  readonly place: string;
  readonly children: ReactNode;
}

interface State {
  readonly place: string;
  readonly hasFailed: boolean;
}

/**
 * Shows a message if the script of a page cannot be loaded, because the network failed or a new version of the gateway has other scripts.
 * Without it, React would unmount the whole application, including uploads and sends in progress.
 */
export class LoadBoundary extends Component<Props, State> {
  override state: State = { place: this.props.place, hasFailed: false };

  static getDerivedStateFromProps({ place }: Props, before: State): State | null {
    return place === before.place ? null : { place, hasFailed: false };
  }

  static getDerivedStateFromError(): Partial<State> {
    return { hasFailed: true };
  }

  override render(): ReactNode {
    return this.state.hasFailed ? <NotLoaded /> : this.props.children;
  }
}

function NotLoaded() {
  const { t } = useTexts();
  return (
    <main className="page">
      <div className="empty" role="alert">
        <h1>{t('notLoadedTitle')}</h1>
        <p>{t('notLoaded')}</p>
        <button type="button" className="button primary" onClick={() => location.reload()}>
          {t('loadAgain')}
        </button>
      </div>
    </main>
  );
}
