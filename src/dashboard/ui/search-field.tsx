import { Icon } from './icon.tsx';

interface Props {
  readonly label: string;
  /** Stands in the empty field; default: its name. */
  readonly placeholder?: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

export const SearchField = ({ label, placeholder = label, value, onChange }: Props) => (
  <label className="search">
    <Icon name="search" size={17} />
    <span className="visually-hidden">{label}</span>
    <input type="search" placeholder={placeholder} value={value} onChange={event => onChange(event.target.value)} />
  </label>
);
