export const Logo = () => (
  <span className="logo">
    <svg viewBox="0 0 32 32" width="28" height="28" aria-hidden="true">
      <rect width="32" height="32" rx="8" className="logo-tile" />
      <path
        d="M8 10.5A2.5 2.5 0 0 1 10.500 8h11A2.500 2.500 0 0 1 24 10.500v7a2.500 2.500 0 0 1-2.500 2.500H15l-5 4v-4.050A2.500 2.500 0 0 1 8 17.500z"
        className="logo-mark"
      />
    </svg>
    <span className="logo-word" translate="no">
      Parley
    </span>
  </span>
);
