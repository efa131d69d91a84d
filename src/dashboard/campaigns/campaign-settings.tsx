import type { CampaignMoreFragment } from '../documents.generated.ts';
import { useTexts } from '../texts/texts.tsx';

/** How a campaign is sent, as it was set. */
export function CampaignSettings({ campaign }: { readonly campaign: CampaignMoreFragment }) {
  const { t, language } = useTexts();
  const { audience, channel, content, sendingHours, messagesPerSecond, firstWave, frequencyCap } = campaign;
  const who = audience.list
    ? t('audience.ofList', { name: audience.list.name, count: audience.list.rowCount })
    : audience.groups && audience.groups.length > 0
      ? audience.groups.map(group => group.name).join(', ')
      : audience.contactCount !== null
        ? t('audience.named', { count: audience.contactCount })
        : t('audience.byFilter');
  const facts: readonly (readonly [string, string])[] = [
    [t('audience.title'), who],
    [
      t('campaigns.template'),
      content.__typename === 'TemplateContent' ? `${content.templateName} (${content.language})` : '–',
    ],
    [
      t('details.channel'),
      channel ? `${channel.verifiedName ?? ''} ${channel.displayPhoneNumber}` : t('delivery.defaultChannel'),
    ],
    [t('delivery.hours'), sendingHours ? `${sendingHours.start} – ${sendingHours.end}` : t('delivery.anyTime')],
    [
      t('delivery.rate'),
      messagesPerSecond === null ? t('delivery.channelRate') : t('channels.perSecond', { count: messagesPerSecond }),
    ],
    [t('delivery.firstWave'), firstWave === null ? t('delivery.firstWaveDefault') : firstWave.toLocaleString(language)],
    [t('delivery.maxFailure'), `${campaign.maxFailurePercent} %`],
    [
      t('delivery.cap'),
      frequencyCap === null
        ? t('delivery.noCap')
        : t('delivery.capOf', { messages: frequencyCap.messages, days: frequencyCap.days }),
    ],
  ];
  return (
    <section className="card">
      <h2>{t('campaigns.settings')}</h2>
      <dl className="pairs two-columns">
        {facts.map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>
              <bdi>{value}</bdi>
            </dd>
          </div>
        ))}
      </dl>
      {audience.filter != null && <pre className="code-block">{JSON.stringify(audience.filter, undefined, 2)}</pre>}
    </section>
  );
}
