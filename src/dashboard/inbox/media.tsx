import type { MediaKind, ShownMediaFragment } from '../documents.generated.ts';
import { useTexts } from '../texts/texts.tsx';
import { Icon, type IconName } from '../ui/icon.tsx';
import { sizeText } from '../ui/size.ts';

const ICONS: Readonly<Partial<Record<MediaKind, IconName>>> = { IMAGE: 'image', STICKER: 'image', VIDEO: 'play' };

/** A picture, a player, or a file to download. What was sent as a link is a link: the page loads nothing from elsewhere. */
export function Media({ media, alt }: { readonly media: ShownMediaFragment; readonly alt: string }) {
  const { t, language } = useTexts();
  const { kind, url, link, thumbnailUrl, filename, size, isAvailable } = media;
  if (!isAvailable || !url)
    return (
      <p className="file">
        <Icon name="image" /> <span className="muted">{t('media.unavailable')}</span>
      </p>
    );
  if (link !== null)
    return (
      <a href={link} target="_blank" rel="noreferrer" className="file">
        <Icon name={ICONS[kind] ?? 'file'} />
        <span className="ellipsis" dir="auto">
          {filename ?? link}
        </span>
      </a>
    );
  switch (kind) {
    case 'IMAGE':
    case 'STICKER':
      return (
        <a href={url} target="_blank" rel="noreferrer" className="picture">
          <img
            src={thumbnailUrl ?? url}
            alt={alt}
            loading="lazy"
            className={kind === 'STICKER' ? 'sticker' : undefined}
          />
        </a>
      );
    case 'VIDEO':
    case 'AUDIO': {
      const Player = kind === 'VIDEO' ? 'video' : 'audio';
      return <Player src={url} controls preload="metadata" aria-label={alt} />;
    }
    case 'DOCUMENT':
      return (
        <a href={url} target="_blank" rel="noreferrer" className="file">
          <Icon name="file" />
          <span className="ellipsis" dir="auto">
            {filename ?? t('media.document')}
          </span>
          {size !== null && <bdi className="muted small">{sizeText(size, language)}</bdi>}
        </a>
      );
    default:
      return kind satisfies never;
  }
}
