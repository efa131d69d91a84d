interface Props {
  readonly label: string;
  readonly value: number;
  readonly max: number;
}

/** A progress bar with its figures for screen readers. */
export const Progress = ({ label, value, max }: Props) => (
  <progress className="progress" aria-label={label} value={value} max={Math.max(max, 1)} />
);
