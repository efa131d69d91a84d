import type { ThreadMessageFragment } from '../documents.generated.ts';
import { useTexts } from '../texts/texts.tsx';
import { Icon } from '../ui/icon.tsx';
import { sizeText } from '../ui/size.ts';

type MediaOf = Extract<ThreadMessageFragment['content'], { readonly __typename: 'MediaContent' }>['media'];

/** A picture, a player, or a file to download. */
export function Media({ media, alt }: { readonly media: MediaOf; readonly alt: string }) {
  const { t, language } = useTexts();
  const { kind, url, thumbnailUrl, filename, size, isAvailable } = media;
  if (!isAvailable || !url)
    return (
      <p className="file">
        <Icon name="image" /> <span className="muted">{t('media.unavailable')}</span>
      </p>
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
