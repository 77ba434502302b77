type Labels = { open: string; close: string; unread: string }

const labels: Record<string, Labels> = {
  en: { open: 'Open chat', close: 'Close chat', unread: 'new answers' },
  de: { open: 'Chat öffnen', close: 'Chat schließen', unread: 'neue Antworten' },
  fr: { open: 'Ouvrir le chat', close: 'Fermer le chat', unread: 'nouvelles réponses' },
  es: { open: 'Abrir el chat', close: 'Cerrar el chat', unread: 'respuestas nuevas' },
  it: { open: 'Apri la chat', close: 'Chiudi la chat', unread: 'nuove risposte' },
  ar: { open: 'فتح المحادثة', close: 'إغلاق المحادثة', unread: 'إجابات جديدة' },
}

/** For screen readers, in the language of the website. */
export function labelsFor(language: string): Labels {
  return labels[language.split('-')[0]!.toLowerCase()] ?? labels['en']!
}
