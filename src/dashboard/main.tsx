import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { applyTheme } from './layout/theme.ts';
import './styles/tokens.css';
import './styles/base.css';
import './styles/controls.css';
import './styles/overlays.css';
import './styles/shell.css';
import './styles/inbox.css';
import './styles/thread.css';
import './styles/bubble.css';
import './styles/bubble-content.css';
import './styles/composer.css';
import './styles/page.css';
import './styles/live.css';
import './styles/tables.css';
import './styles/csv.css';
import './styles/choices.css';
import './styles/filters.css';
import './styles/figures.css';
import './styles/progress.css';
import './styles/contact-card.css';
import './styles/lists.css';
import './styles/examples.css';
import './styles/phone.css';

applyTheme();
const root = document.getElementById('root');
if (root)
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
