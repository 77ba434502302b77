import { addTexts } from '../../i18n/translations.ts'
import de from './de.json' with { type: 'json' }
import en from './en.json' with { type: 'json' }

addTexts('spaces', { en, de })
