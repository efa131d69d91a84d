interface Props {
  readonly label: string;
  readonly value: string;
  readonly tone?: string;
}

/** A number with what it counts, in a list of them (`dl`). */
export const Figure = ({ label, value, tone }: Props) => (
  <div>
    <dt className="muted small">{label}</dt>
    <dd className={tone === undefined ? 'number-text' : `number-text tone-${tone}`}>{value}</dd>
  </div>
);
