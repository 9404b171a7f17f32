"""K. Xu, M. Gerla, L. Qi, Y. Shu, "Enhancing TCP fairness in ad hoc wireless networks using neighborhood
RED", MobiCom 2003."""
