import type { ThreadMessageFragment } from '../documents.generated.ts';
import { useTexts } from '../texts/texts.tsx';
import { Icon } from '../ui/icon.tsx';
import { Media } from './media.tsx';
import { RenderedTemplate } from './rendered-template.tsx';
import { WhatsAppText } from './whatsapp-text.tsx';

type Content = ThreadMessageFragment['content'];
type Of<Name extends Content['__typename']> = Extract<Content, { readonly __typename: Name }>;

interface Props {
  readonly content: Content;
  /** Text preview, for content types without a view. */
  readonly previewText: string;
}

/** Renders the content of a message, by type. */
export function MessageContent({ content, previewText }: Props) {
  const { t } = useTexts();
  switch (content.__typename) {
    case 'TextContent':
      return <WhatsAppText text={content.body} />;
    case 'MediaContent':
      return (
        <>
          <Media media={content.media} alt={content.caption ?? previewText} />
          {content.caption && <WhatsAppText text={content.caption} />}
        </>
      );
    case 'TemplateContent':
      return content.rendered ? (
        <RenderedTemplate
          rendered={content.rendered}
          file={content.headerMedia && <Media media={content.headerMedia} alt={previewText} />}
        />
      ) : (
        <p>{t('message.template', { name: content.templateName })}</p>
      );
    case 'InteractiveContent':
      return <Interactive content={content} />;
    case 'ReplyContent':
      return (
        <p className="choice">
          <Icon name="reply" size={16} /> {content.title}
        </p>
      );
    case 'LocationContent':
      return <Location content={content} />;
    case 'ContactsContent':
      return (
        <ul className="cards">
          {content.cards.map(card => (
            <li key={`${card.name}${card.phones[0]}`}>
              <Icon name="user" size={17} /> {card.name} <bdi className="muted small">{card.phones.join(', ')}</bdi>
            </li>
          ))}
        </ul>
      );
    case 'OrderContent':
      return (
        <ul className="cards">
          {content.items.map(({ productId, quantity, price }) => (
            <li key={productId}>
              {quantity} × {productId}{' '}
              {price && (
                <span className="muted small">
                  {price.amount} {price.currency}
                </span>
              )}
            </li>
          ))}
        </ul>
      );
    case 'SystemContent':
      return <p>{content.systemText}</p>;
    case 'CallContent':
      return <p>{t(`call.${content.outcome}`)}</p>;
    case 'UnsupportedContent':
      return <p className="muted">{content.reason?.title ?? t('message.unsupported')}</p>;
    default:
      return <p>{previewText}</p>;
  }
}

function Interactive({ content }: { readonly content: Of<'InteractiveContent'> }) {
  const { header, body, footer, buttons, ctaUrl, list } = content;
  return (
    <>
      {header && (
        <p className="template-header" dir="auto">
          {header}
        </p>
      )}
      <WhatsAppText text={body} />
      {footer && (
        <p className="template-footer" dir="auto">
          {footer}
        </p>
      )}
      <div className="template-buttons">
        {buttons.map(({ replyId, title }) => (
          <span key={replyId}>
            <Icon name="reply" size={15} /> {title}
          </span>
        ))}
        {ctaUrl && <span>{ctaUrl.displayText}</span>}
        {list && (
          <details>
            <summary>
              <Icon name="list" size={15} /> {list.button}
            </summary>
            {list.sections.map(section => (
              <ul key={section.title ?? ''} className="list-rows">
                {section.title && <li className="small muted">{section.title}</li>}
                {section.rows.map(row => (
                  <li key={row.replyId}>
                    {row.title} {row.description && <span className="muted small">{row.description}</span>}
                  </li>
                ))}
              </ul>
            ))}
          </details>
        )}
      </div>
    </>
  );
}

function Location({ content: { latitude, longitude, name, address } }: { readonly content: Of<'LocationContent'> }) {
  return (
    <p className="location">
      <Icon name="pin" size={18} />
      <span>
        {name && <strong>{name}</strong>}
        {address && <span>{address}</span>}
        <bdi className="muted small">
          {latitude.toFixed(5)}, {longitude.toFixed(5)}
        </bdi>
      </span>
    </p>
  );
}
