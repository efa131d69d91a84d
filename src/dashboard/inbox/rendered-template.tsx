import type { PreviewTemplateQuery } from '../documents.generated.ts';
import { Icon } from '../ui/icon.tsx';
import { WhatsAppText } from './whatsapp-text.tsx';

type Rendered = NonNullable<NonNullable<PreviewTemplateQuery['previewTemplate']>['rendered']>;

/** A template as its recipient sees it. */
export const RenderedTemplate = ({ rendered: { header, body, footer, buttons } }: { readonly rendered: Rendered }) => (
  <>
    {header &&
      (header.text ? (
        <p className="template-header">{header.text}</p>
      ) : (
        <p className="file">
          <Icon name={header.format === 'IMAGE' ? 'image' : header.format === 'LOCATION' ? 'pin' : 'file'} />
          <span className="ellipsis">{header.filename ?? header.link ?? header.format.toLowerCase()}</span>
        </p>
      ))}
    {body && <WhatsAppText text={body} />}
    {footer && <p className="template-footer">{footer}</p>}
    {buttons.length > 0 && (
      <div className="template-buttons">
        {buttons.map(({ type, text }) => (
          <span key={`${type} ${text}`}>{text}</span>
        ))}
      </div>
    )}
  </>
);
