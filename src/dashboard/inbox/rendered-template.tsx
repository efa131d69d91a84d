import type { ReactNode } from 'react';
import type { TemplateButtonType, TemplateHeaderFormat } from '../documents.generated.ts';
import { useTexts } from '../texts/texts.tsx';
import { Icon, type IconName } from '../ui/icon.tsx';
import { WhatsAppText } from './whatsapp-text.tsx';

/** Rendered parts of a template. */
export interface TemplateView {
  readonly header: HeaderView | null;
  readonly body: string | null;
  readonly footer: string | null;
  readonly buttons: readonly {
    readonly key?: number;
    readonly type: TemplateButtonType;
    /** Null: the network writes it. */
    readonly text: string | null;
  }[];
}

interface HeaderView {
  readonly format: TemplateHeaderFormat;
  readonly text: string | null;
  readonly link: string | null;
  readonly filename: string | null;
  /** The file itself, if the page has it. */
  readonly fileUrl?: string | undefined;
}

const BUTTON_ICONS: Readonly<Partial<Record<TemplateButtonType, IconName>>> = {
  QUICK_REPLY: 'reply',
  URL: 'link',
  PHONE_NUMBER: 'call',
  COPY_CODE: 'copy',
  OTP: 'copy',
};
const HEADER_ICONS: Readonly<Partial<Record<TemplateHeaderFormat, IconName>>> = {
  IMAGE: 'image',
  VIDEO: 'play',
  LOCATION: 'pin',
};

interface Props {
  readonly rendered: TemplateView;
  /** The file of the header, instead of its kind. */
  readonly file?: ReactNode;
}

/** A template as its recipient sees it. */
export function RenderedTemplate({ rendered: { header, body, footer, buttons }, file }: Props) {
  const { t } = useTexts();
  return (
    <>
      {file ?? (header && <Header header={header} />)}
      {body && <WhatsAppText text={body} />}
      {footer && (
        <p className="template-footer" dir="auto">
          {footer}
        </p>
      )}
      {buttons.length > 0 && (
        <div className="template-buttons">
          {buttons.map(({ key, type, text }, index) => {
            const icon = BUTTON_ICONS[type];
            return (
              <span key={key ?? index}>
                {icon && <Icon name={icon} size={16} />}
                {text ?? t(type === 'COPY_CODE' || type === 'OTP' ? 'template.copyCode' : 'template.otherButton')}
              </span>
            );
          })}
        </div>
      )}
    </>
  );
}

function Header({ header: { format, text, link, filename, fileUrl } }: { readonly header: HeaderView }) {
  const { t } = useTexts();
  if (text)
    return (
      <p className="template-header" dir="auto">
        {text}
      </p>
    );
  if (fileUrl !== undefined && format === 'IMAGE')
    return (
      <span className="picture">
        <img src={fileUrl} alt={filename ?? t('headerFormat.IMAGE')} />
      </span>
    );
  // biome-ignore lint/a11y/useMediaCaption: an example that the person has just chosen
  if (fileUrl !== undefined && format === 'VIDEO') return <video src={fileUrl} controls aria-label={filename ?? ''} />;
  return (
    <p className="file">
      <Icon name={HEADER_ICONS[format] ?? 'file'} />
      <span className="ellipsis" dir="auto">
        {filename ?? link ?? t(`headerFormat.${format}`)}
      </span>
    </p>
  );
}
