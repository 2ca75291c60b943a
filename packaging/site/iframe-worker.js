// A page that is read as a file may not start a Worker, in which the search runs. A frame does the
// same: it loads the worker's script, and messages go to it and come back from it.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.appendChild(frame);
      this.scope = frame.contentWindow;
      this.scope.document.open();
      this.scope.document.write(`<script>postMessage = (data) => parent.postMessage(data, "*");</script>
        <script src="${url}"></script>`);
      this.scope.document.close();
      this.loaded = new Promise((done) => this.scope.addEventListener("load", done));
      window.addEventListener("message", (event) => {
        if (event.source === this.scope)
          this.dispatchEvent(new MessageEvent("message", { data: event.data }));
      });
    }
    postMessage(data) {
      this.loaded.then(() =>
        this.scope.dispatchEvent(new MessageEvent("message", { data: structuredClone(data) })));
    }
  };
}
