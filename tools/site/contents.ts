// The order of the documentation: docs/README.md, read as a table of contents.

export interface Section {
  title: string;
  pages: Page[];
}

export interface Page {
  text: string;
  /** Relative to docs/. */
  file: string;
}

/** The sections of docs/README.md with the pages that each of their list items links to first. */
export function sectionsOf(readme: string): Section[] {
  const sections = readme.split(/^## /m).slice(1);
  return sections.map((section) => ({
    title: section.slice(0, section.indexOf("\n")),
    pages: [...section.matchAll(/^\* \[([^\]]+)\]\(([^)#]+\.md)\)/gm)].map(([, text = "", file = ""]) => ({
      text,
      file,
    })),
  }));
}
